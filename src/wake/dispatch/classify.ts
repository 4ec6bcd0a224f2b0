// What an attempt ended with, from what is structured: the exit, the client's own error, whether the letter was answered.
import type { Cause } from '../../store/dispatch/rows.ts'
import type { Exit } from './attempt-files.ts'
import type { Progress } from './providers/provider.ts'

export type Ending = {
  /** Why the supervisor ended it; null: it ended by itself. */
  ended: { cause: Cause; detail: string } | null
  /** null: its attendant was gone without a word. */
  exit: Exit | null
  /** What became of the letter meanwhile; `none`: there is no letter. */
  settled: 'replied' | 'closed' | 'open' | 'none'
  progress: Progress
  /** Last lines of standard error. */
  errors: string
  leftover: number
}

/** sysexits(3): the conventions for programs that have no format of their own. */
const EX_USAGE = 64
const EX_TEMPFAIL = 75
const EX_CONFIG = 78
/** A shell's: not executable, not found. */
const SHELL = [126, 127]

/** HTTP: who one is, what one may, and an address or a model that does not exist, RFC 9110 §15.5. */
const SETUP_STATUS: ReadonlySet<number> = new Set([401, 403, 404])
const LIMITED = /\b(?:429|529|rate.?limit|overloaded|usage limit|quota|too many requests|high demand)\b/i
const SETUP =
  /\b(?:401|403|status 404|invalid api key|api key|authentication|unauthorized|not logged in|\/login|credit balance|model.{0,40}(?:not found|not exist|unknown|invalid|not supported)|unknown model|issue with the selected model)\b/i
const LOST =
  /no (?:conversation|session|rollout|thread) found|(?:conversation|session|thread) .{0,80}not found|invalid session identifier/i
const USAGE = /\b(?:unknown|unexpected|unrecognized|invalid) (?:option|argument|flag|value)|cannot combine|--help\b/i

export function classify(ending: Ending): { cause: Cause; detail: string | null } {
  const { exit, progress, settled, errors, leftover, ended } = ending
  if (settled === 'replied' || settled === 'closed') return { cause: settled, detail: ended?.detail ?? null }
  if (ended) return ended
  if (exit === null) return { cause: 'crashed', detail: 'its attendant was killed, so how it ended is not known' }
  if (exit.error !== null) return { cause: 'misconfigured', detail: `it could not be started: ${exit.error}` }
  if (progress.maxTurns) return { cause: 'max_turns', detail: 'it had used all the turns that its profile allows' }
  const failed = exit.code !== 0 || progress.error !== null
  // a client that died before its first event says why on standard error, and nothing else is there
  const said = progress.error ?? (failed && progress.events === 0 ? errors : '')
  const line = lastLine(progress.error ?? errors)
  if (failed && LOST.test(said)) return { cause: 'session_lost', detail: line }
  if (failed && (progress.status === 429 || progress.status === 529 || LIMITED.test(progress.error ?? '')))
    return { cause: 'rate_limited', detail: line }
  if (exit.code === EX_TEMPFAIL) return { cause: 'rate_limited', detail: 'exit code 75: try again later' }
  if (failed && (SETUP_STATUS.has(progress.status ?? 0) || SETUP.test(said) || isUsage(ending)))
    return { cause: 'misconfigured', detail: line }
  if (failed) return { cause: 'crashed', detail: line }
  if (settled === 'none') return { cause: 'ran', detail: null }
  if (leftover > 0)
    return { cause: 'left_children', detail: `it ended and left ${leftover} processes at work, unanswered` }
  return { cause: 'silent', detail: 'it ended in order and did not answer' }
}

function isUsage({ exit, progress, errors }: Ending): boolean {
  const code = exit?.code ?? 0
  if (code === EX_USAGE || code === EX_CONFIG || SHELL.includes(code)) return true
  return progress.events === 0 && USAGE.test(errors)
}

const lastLine = (text: string): string | null => text.trim().split('\n').at(-1)?.trim().slice(0, 400) || null

/** For people: the cause as a half sentence after "it". */
export const CAUSE_TEXT: Readonly<Record<Cause, string>> = {
  replied: 'answered',
  closed: 'closed the letter without an answer',
  ran: 'ran and ended in order',
  silent: 'ended in order without an answer',
  left_children: 'ended without an answer and left processes at work',
  crashed: 'crashed',
  hung_at_start: 'hung at its start',
  hung: 'hung',
  rate_limited: 'was turned away by a rate limit',
  misconfigured: 'is not set up right',
  session_lost: 'could not go on with its session',
  max_turns: 'used up its turns',
  timed_out: 'took too long',
  interrupted: 'was interrupted from outside',
  not_started: 'was not started',
  stopped: 'was stopped',
}
