// The letter that says that a dispatch came to nothing: on its thread, with the attempts, what each ended with, and the evidence.
import { readFragment } from '../../engine/fragment.ts'
import type { AttemptRow, DispatchRow, Outcome } from '../../store/dispatch/rows.ts'
import type { MessageRow } from '../../store/rows.ts'
import { escapeText } from '../../wire/unseen.ts'
import { CAUSE_TEXT } from './classify.ts'

const OUTCOME_TEXT: Readonly<Record<Outcome, string>> = {
  replied: 'was answered',
  closed: 'was closed without an answer',
  ran: 'ran',
  silent: 'ended without an answer',
  failed: 'failed',
  timed_out: 'took longer than it may',
  stopped: 'was stopped',
}

export type Bounced = {
  row: DispatchRow
  agent: string
  outcome: Outcome
  reason: string | null
  attempts: readonly AttemptRow[]
  letter: MessageRow | null
}

export function bounceText({ row, agent, outcome, reason, attempts, letter }: Bounced): {
  subject: string
  body: string
} {
  const subject = letter ? readFragment(letter.json).subject : 'a start without a letter'
  const tail = attempts.findLast((attempt) => attempt.tail !== null && attempt.tail !== '')
  const lines = [
    `Dispatch ${row.id} to ${agent} ${OUTCOME_TEXT[outcome]}${reason === null ? '.' : `: ${escapeText(reason)}.`}`,
    '',
    ...(attempts.length === 0 ? ['It was not started.'] : attempts.map(attemptText)),
    ...(tail
      ? ['', `The end of what attempt ${tail.number} printed, without secrets:`, ...quoted(tail.tail ?? '')]
      : []),
    '',
    ...(letter && outcome !== 'closed' ? [`The letter is still open in the mailbox of ${agent}.`] : []),
    `Everything it printed: mail4agent dispatch logs ${row.id}. Nothing of it runs any more.`,
    '',
  ]
  const mark = outcome === 'closed' ? 'Closed' : outcome === 'stopped' ? 'Stopped' : 'Undone'
  return { subject: `${mark}: ${subject}`, body: lines.join('\n') }
}

function attemptText(attempt: AttemptRow): string {
  const { number, mode, cause, detail, exit, signal, forced, leftover } = attempt
  const took =
    attempt.ended === null || attempt.spawned === null ? null : Math.round((attempt.ended - attempt.spawned) / 1000)
  const facts = [
    ...(exit === null ? [] : [`exit ${exit}`]),
    ...(signal === null ? [] : [`by ${signal}`]),
    ...(forced ? ['SIGTERM did not end it'] : []),
    ...(leftover > 0 ? [`${leftover} processes ended`] : []),
    ...(took === null ? [] : [`${took} s`]),
    ...(attempt.turns === null ? [] : [`${attempt.turns} turns`]),
    ...(attempt.cost === null ? [] : [`$${attempt.cost.toFixed(4)}`]),
  ]
  const why = detail === null ? '' : `: ${escapeText(detail)}`
  return `attempt ${number} (${mode}) ${CAUSE_TEXT[cause ?? 'interrupted']}${facts.length > 0 ? ` (${facts.join(', ')})` : ''}${why}`
}

const quoted = (text: string): string[] =>
  escapeText(text)
    .split('\n')
    .map((line) => `> ${line}`.trimEnd())
