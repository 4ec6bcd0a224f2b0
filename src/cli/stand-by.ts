// The waiters that clients run beside their sessions: each stands by at the mailbox, and hands the text of a wake to its client.
import { isDeepStrictEqual } from 'node:util'
import { MailClient } from '../client/client.ts'
import type { RequestOf } from '../wire/operations.ts'
import { Refusal } from '../wire/refusal.ts'
import type { StandByAnswer, StandByRequest } from '../wire/wake.ts'
import { agentAbove } from './agent-above.ts'
import type { Context } from './context.ts'
import type { Io } from './io.ts'
import { isRestart } from './patient.ts'
import { routeTo } from './place.ts'
import { storedToken } from './token-files.ts'

const HELD_SECS = 55
/** A mailbox that is not there at the first call comes within this, or this waiter leaves: the next turn starts another. */
const FIRST_MS = 30_000
const AGAIN_MS = 500
const AGAIN_MOST_MS = 2_000
/** How often it is looked at whether the client still runs: one that was killed does not end its hooks. */
const PARENT_MS = 2_000

type Wake = NonNullable<StandByAnswer['wake']>
type More = Pick<StandByRequest, 'busy' | 'last'>

/** The hooks' names and what they are. */
export const STANDING: Readonly<Record<string, (context: Context) => Promise<number>>> = {
  'claude-rewake': claudeRewake,
  'opencode-wake': opencodeWake,
}

/**
 * Claude Code, "Hooks", asyncRewake: exit 2 wakes the session with what stands on stderr. A waiter that does not end would
 * keep `claude -p` from ending: where nobody attends the session there is none.
 */
async function claudeRewake(context: Context): Promise<number> {
  const { io } = context
  if (!isAttended(io) || (await agentAbove(io)) !== 'claude') return 0
  const standing = standAt(context, 'claude', 'claude-rewake')
  if (standing === null) return 0
  const parent = Number(io.env.CLAUDE_PID ?? process.ppid)
  const wake = await standing.next({}, untilGone(parent))
  standing.close()
  if (wake === null) return 0
  io.err(wake.text)
  return 2
}

/** Older versions do not say whether somebody attends; how the session was started does. */
const isAttended = ({ env }: Io): boolean =>
  env.CLAUDE_CODE_SESSION_ATTENDED === undefined
    ? env.CLAUDE_CODE_ENTRYPOINT === 'cli'
    : env.CLAUDE_CODE_SESSION_ATTENDED !== '0'

/**
 * Beside our plugin in opencode: each wake is a line of JSON on stdout. What the plugin writes, a line each: `{"busy":bool}`,
 * and `{"message_id","ok","busy","detail"}` of a wake that it was given. Ends with its input.
 */
async function opencodeWake(context: Context): Promise<number> {
  const { io } = context
  if ((await agentAbove(io)) !== 'opencode') return 0
  const standing = standAt(context, 'opencode', 'opencode-plugin')
  if (standing === null) return 0
  const gone = new AbortController()
  let more: More = {}
  let changed = new AbortController()
  const read = async () => {
    let rest = ''
    for await (const part of io.inputStream()) {
      const lines = (rest + Buffer.from(part).toString('utf8')).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const next = saidBy(line, more)
        if (isDeepStrictEqual(next, more)) continue
        more = next
        changed.abort()
      }
    }
  }
  void read()
    .catch(() => {})
    .finally(() => gone.abort())
  while (!gone.signal.aborted) {
    changed = new AbortController()
    const asked = more
    const wake = await standing.next(asked, AbortSignal.any([gone.signal, changed.signal]))
    if (asked.last === more.last) more = { ...more, last: null }
    if (wake !== null) io.out(`${JSON.stringify(wake)}\n`)
    else if (standing.left) break
  }
  standing.close()
  return 0
}

function saidBy(line: string, more: More): More {
  try {
    const said: unknown = JSON.parse(line)
    if (typeof said !== 'object' || said === null) return more
    const { message_id, ok, busy, detail } = { ...said } as Record<string, unknown>
    const isBusy = typeof busy === 'boolean' ? busy : false
    if (typeof message_id !== 'string') return { ...more, busy: isBusy }
    const last = {
      message_id,
      ok: ok === true,
      busy: isBusy,
      detail: typeof detail === 'string' ? detail.slice(0, 100) : null,
    }
    return { ...more, last }
  } catch {
    return more
  }
}

/** Aborts once that process has ended, or is not our parent's any more. */
function untilGone(pid: number): AbortSignal {
  const gone = new AbortController()
  const timer = setInterval(() => {
    try {
      process.kill(pid, 0)
    } catch {
      clearInterval(timer)
      gone.abort()
    }
  }, PARENT_MS)
  timer.unref()
  return gone.signal
}

export type Stand = {
  /** The next wake; null when `signal` aborts, or there is nothing to wait for any more (`left`). */
  next(more: More, signal: AbortSignal): Promise<Wake | null>
  readonly left: boolean
  close(): void
}

/** Null: there is no token of that account here. */
export function standAt(context: Context, account: string, door: StandByRequest['door']): Stand | null {
  const { place, options } = context
  const token = storedToken(place.dataDir, options.as ?? account)
  if (token === null) return null
  let client: MailClient | null = null
  let heard = false
  let left = false
  const close = () => {
    client?.close()
    client = null
  }
  async function next(more: More, signal: AbortSignal): Promise<Wake | null> {
    let asked = more
    let pause = AGAIN_MS
    for (const began = performance.now(); !signal.aborted; ) {
      const request: RequestOf<'stand_by'> = { door, wait_secs: HELD_SECS, ...asked }
      try {
        client ??= new MailClient({ ...routeTo(place), token: token ?? '' })
        const { wake, taken } = await client.call('stand_by', request, { signal })
        heard = true
        asked = { ...asked, last: null }
        pause = AGAIN_MS
        if (wake !== null) return wake
        if (taken) break
      } catch (error) {
        if (signal.aborted) return null
        if (!isRestart(error) && error instanceof Refusal) break
        if (!heard && performance.now() - began > FIRST_MS) break
        // it may come back at another place
        close()
        await Bun.sleep(pause)
        pause = Math.min(AGAIN_MOST_MS, pause * 2)
      }
    }
    left = !signal.aborted
    return null
  }
  return {
    next,
    get left() {
      return left
    },
    close,
  }
}
