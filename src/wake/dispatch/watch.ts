// Watching one attempt from its claim to its end: health at the start, life later, its deadlines, and whoever wants it stopped.
import type { AttemptRow, Cause, DispatchRow, Profile } from '../../store/dispatch/rows.ts'
import { type Exit, filesOf, readExit, tailOf } from './attempt-files.ts'
import { type Family, signal } from './family.ts'
import { runs } from './proc.ts'
import type { Provider } from './providers/provider.ts'
import { Transcript } from './transcript.ts'

const TICK_MS = 250
/** Milliseconds that an attendant gets to write down the end of its child. */
const LAST_WORDS_MS = 2_000
const HELPERS_MS = 2_000
const ERROR_BYTES = 4_096

export type Watched = {
  attempt: AttemptRow
  profile: Profile
  provider: Provider
  folder: string
  family: Family
  /** Aborted when the mailbox stops: then nobody is ended, and the next mailbox watches on. */
  signal: AbortSignal
  /** The dispatch as it is now. */
  row: () => DispatchRow | null
  /** Whether one of its processes has used the mailbox since. */
  contacted: () => boolean
  /** For people: what it is at. */
  say: (activity: string) => void
  healthy: (at: number) => void
}

export type Seen = {
  ended: { cause: Cause; detail: string } | null
  exit: Exit | null
  transcript: Transcript
  errors: string
  leftover: number
  forced: boolean
  /** When it first showed life. */
  healthy: number | null
}

/** Resolves when the attempt and all its processes have ended; to null when the mailbox stops before. */
export async function watch(watched: Watched): Promise<Seen | null> {
  const { folder, family, provider } = watched
  const files = filesOf(folder)
  const transcript = new Transcript(provider, files)
  const vital = { healthy: watched.attempt.healthy }
  const ended = await untilEnd(watched, transcript, vital)
  if (ended === 'stopping') return null
  const left = ended === null ? await leftBehind(family) : 0
  const { forced } = await family.end()
  const exit = await lastWords(watched)
  transcript.read()
  const healthy = vital.healthy ?? (transcript.size > 0 ? Date.now() : null)
  return { healthy, ended, exit, transcript, errors: tailOf(files.err, ERROR_BYTES), leftover: left, forced }
}

/** What is still at work a while after its main process has ended: helpers that end with it are on their way. */
async function leftBehind(family: Family): Promise<number> {
  for (const end = performance.now() + HELPERS_MS; ; await Bun.sleep(50)) {
    const { length } = family.others()
    if (length === 0 || performance.now() > end) return length
  }
}

type End = { cause: Cause; detail: string } | null

async function untilEnd(
  watched: Watched,
  transcript: Transcript,
  vital: { healthy: number | null },
): Promise<End | 'stopping'> {
  const { family, attempt, profile, folder } = watched
  const spawned = attempt.spawned ?? Date.now()
  // time that no mailbox watched counts for its deadlines alone
  const began = Date.now()
  let grown = began
  for (let tick = 0; ; tick++) {
    if (watched.signal.aborted) return 'stopping'
    if (readExit(folder) !== null || !runs(family.root)) return null
    // whoever leaves the tree is known as long as we saw it in there
    if (tick % 4 === 0) family.look()
    const now = Date.now()
    if (transcript.read()) grown = now
    if (vital.healthy === null && (transcript.size > 0 || watched.contacted())) {
      vital.healthy = now
      watched.healthy(now)
    }
    const healthy = vital.healthy !== null
    const row = watched.row()
    if (row?.stop != null) return { cause: 'stopped', detail: row.stop }
    const { tools, turns } = transcript.progress
    const quiet = now - grown
    watched.say(activityOf(healthy, tools.size > 0, quiet > profile.stallSecs * 1000))
    if (!healthy && now - began > profile.startupSecs * 1000)
      return { cause: 'hung_at_start', detail: `no sign of life within ${profile.startupSecs} s` }
    if (healthy && tools.size === 0 && quiet > profile.stallSecs * 1000)
      return { cause: 'hung', detail: `nothing more for ${profile.stallSecs} s, and no tool at work` }
    if (turns !== null && turns > profile.maxTurns)
      return { cause: 'max_turns', detail: `more than ${profile.maxTurns} turns` }
    if (now - spawned > profile.attemptSecs * 1000)
      return { cause: 'timed_out', detail: `longer than ${profile.attemptSecs} s in one attempt` }
    if (row?.started != null && now - row.started > profile.totalSecs * 1000)
      return { cause: 'timed_out', detail: `longer than ${profile.totalSecs} s in all` }
    await Bun.sleep(TICK_MS)
  }
}

const activityOf = (healthy: boolean, inTool: boolean, stalled: boolean): string =>
  !healthy ? 'starting' : inTool ? 'in a tool' : stalled ? 'stalled' : 'working'

/** The attendant writes down how its child ended, and ends. Where it was killed itself there is no word. */
async function lastWords({ folder, family }: Watched): Promise<Exit | null> {
  for (const end = performance.now() + LAST_WORDS_MS; runs(family.root) && performance.now() < end; )
    await Bun.sleep(20)
  if (runs(family.root)) signal(family.root.pid, 'SIGKILL')
  await family.end(0)
  return readExit(folder)
}
