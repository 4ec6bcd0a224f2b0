// A call that waits for mail, for hours if need be: the door holds it for a minute, so it is asked again, also across a restart.
import type { Message } from '../wire/letter.ts'
import { LIMITS } from '../wire/limits.ts'
import { Refusal } from '../wire/refusal.ts'
import type { Context } from './context.ts'
import { span } from './times.ts'

/** A restart of the mailbox takes seconds; after this it is gone. */
const RESTART_MS = 30_000

type Waiting = { cursor?: string | null; wait_secs?: number | null }
type Page = { messages: Message[]; has_more: boolean; cursor: string | null }
export type Ask<R, A> = (request: R, options?: { signal: AbortSignal }) => Promise<A>

/** `begun`: an earlier call found the mailbox, so that its being away is a restart. */
type Patience = { begun?: boolean; restartMs?: number }

/**
 * The first answer of `ask` that has mail, or the last one when `seconds` are over (Infinity: never) or we are stopped.
 * @throws Refusal `daemon_unreachable` at once when the first call finds nobody, later when it stays away for `restartMs`; Stopped
 */
export async function patient<R extends Waiting, A extends Page>(
  context: Context,
  ask: Ask<R, A>,
  request: R,
  seconds: number,
  { begun = false, restartMs = RESTART_MS }: Patience = {},
): Promise<A> {
  if (seconds === 0) return ask(request)
  const signal = context.io.stopSignal()
  const until = performance.now() + seconds * 1_000
  if (!begun)
    context.progress(`waiting for mail${Number.isFinite(seconds) ? `, ${span(seconds)} at most` : ''} (Ctrl-C ends it)`)
  let asked = request
  for (let first = !begun; ; first = false) {
    const left = Math.max(0, Math.ceil((until - performance.now()) / 1_000))
    const held = { ...asked, wait_secs: Math.min(left, LIMITS.waitHttp) }
    const answer = await (first ? ask(held, { signal }) : again(context, ask, held, signal, restartMs))
    if (answer.messages.length > 0 || performance.now() >= until) return answer
    // much that is not ours to see lies there: go on behind it
    if (answer.has_more && answer.cursor !== null) asked = { ...asked, cursor: answer.cursor }
  }
}

async function again<R, A>(
  context: Context,
  ask: Ask<R, A>,
  request: R,
  signal: AbortSignal,
  restartMs: number,
): Promise<A> {
  for (const giveUp = performance.now() + restartMs; ; await Bun.sleep(500)) {
    signal.throwIfAborted()
    try {
      return await ask(request, { signal })
    } catch (error) {
      if (!isRestart(error) || performance.now() > giveUp) throw error
      context.progress('the mailbox is away; trying again')
    }
  }
}

/** The mailbox is stopping or not there: it may come back. */
export const isRestart = (error: unknown): boolean =>
  error instanceof Refusal && ['daemon_unreachable', 'shutting_down'].includes(error.kind)
