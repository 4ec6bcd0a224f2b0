// What follows an attempt: another one, where that helps, or the end of the dispatch.
import type { AttemptRow, Cause, Outcome, Profile } from '../../store/dispatch/rows.ts'

/** Another try helps against these alone: it never mends a setting, and a run that took its whole time is not begun again. */
const RETRYABLE: ReadonlySet<Cause> = new Set([
  'silent',
  'left_children',
  'crashed',
  'hung_at_start',
  'hung',
  'rate_limited',
  'session_lost',
  'interrupted',
  'not_started',
])
const OUTCOMES: Partial<Record<Cause, Outcome>> = {
  replied: 'replied',
  closed: 'closed',
  ran: 'ran',
  silent: 'silent',
  left_children: 'silent',
  timed_out: 'timed_out',
  stopped: 'stopped',
}

export type Next = { retryMs: number } | { outcome: Outcome }

/** `causes`: of all attempts so far, the last one last. */
export function nextAfter(
  causes: readonly Cause[],
  profile: Pick<Profile, 'attempts'>,
  pauses: { retry: number; limited: number },
): Next {
  const last = causes.at(-1) ?? 'not_started'
  const outcome = OUTCOMES[last] ?? 'failed'
  if (!RETRYABLE.has(last)) return { outcome }
  // what never began is no attempt; but a start that fails time after time is not tried for ever
  const counted = causes.filter((cause) => cause !== 'not_started').length
  if (counted >= profile.attempts || causes.length - counted > 2 * profile.attempts) return { outcome }
  if (last === 'not_started' || last === 'session_lost') return { retryMs: 0 }
  return { retryMs: last === 'rate_limited' ? pauses.limited : pauses.retry }
}

export type Plan = { mode: 'resume' | 'fresh'; session: string | null }

/**
 * How the next attempt begins: twice where the agent left off, the third time anew. `pointer` is the session that it goes on
 * with in that folder.
 */
export function planOf(before: readonly AttemptRow[], pointer: string | null, fresh: boolean): Plan {
  const done = before.filter(({ cause }) => cause !== 'not_started')
  const last = done.at(-1)
  if (!last) return fresh || pointer === null ? FRESH : { mode: 'resume', session: pointer }
  if (done.length >= 2 || last.cause === 'session_lost') return FRESH
  // a session that never said a word may not exist
  const session = last.healthy === null ? (last.mode === 'resume' ? last.session : null) : last.session
  return session === null ? FRESH : { mode: 'resume', session }
}

const FRESH: Plan = { mode: 'fresh', session: null }
