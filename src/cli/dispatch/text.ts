// Dispatches as people read them.
import type { Attempt, Dispatch, Dispatched } from '../../wire/dispatch.ts'
import type { Context } from '../context.ts'
import { clockAndAge, span } from '../times.ts'
import { wholeNumber } from '../usage.ts'

/** `@backend` and `backend` mean the account. */
export const agentName = (word: string): string => (word.startsWith('@') ? word.slice(1) : word)

/** Numbers of dispatches are small; `#12` is fine too. */
export const dispatchId = (word: string): number => wholeNumber('the number of a dispatch', word.replace(/^#/, ''), 1)

export function dispatchedLine({ id, agent, state, position }: Dispatched): string {
  if (state === 'ping') return `${agent}: a ping, answered by the mailbox; nobody is started`
  const place = position ? `, ${position} before it` : ''
  return `dispatch ${id} to ${agent}: ${state}${place}; watch it: mail4agent dispatch watch ${id}`
}

/** `running, in a tool` · `queued, 2 before it` · `replied`. */
export function stateText({ state, outcome, position, activity }: Dispatch): string {
  if (state === 'done') return outcome ?? 'done'
  if (activity !== undefined) return `${state}, ${activity}`
  return position ? `${state}, ${position} before it` : state
}

export const dispatchTable = (dispatches: readonly Dispatch[], context: Context): string =>
  context.table(
    ['id', 'agent', 'by', 'state', 'attempts', 'age', 'subject'],
    dispatches.map((one) => [
      String(one.id),
      one.agent,
      one.by,
      stateText(one),
      String(one.attempts),
      span(one.age_secs),
      one.subject ?? '(its mail)',
    ]),
  )

export function dispatchText(one: Dispatch, attempts: readonly Attempt[], now: string, context: Context): string {
  const time = (at: string | null) => (at === null ? null : clockAndAge(at, now))
  const head = context.facts([
    ['dispatch', String(one.id)],
    ['agent', one.agent],
    ['asked for by', one.by],
    ['letter', one.message_id],
    ['subject', one.subject],
    ['state', stateText(one)],
    ['reason', one.reason],
    ['asked for', time(one.created_at)],
    ['started', time(one.started_at)],
    ['ended', time(one.ended_at)],
    ['depth', String(one.depth)],
    ['answer', one.reply],
    ['told', one.bounce],
  ])
  return [head, ...attempts.map((attempt) => attemptText(attempt, context))].join('\n')
}

function attemptText(attempt: Attempt, context: Context): string {
  const exit = attempt.signal ?? (attempt.exit === null ? null : `exit ${attempt.exit}`)
  const spent = [
    ...(attempt.turns === null ? [] : [`${attempt.turns} turns`]),
    ...(attempt.tokens === null ? [] : [`${attempt.tokens} tokens`]),
    ...(attempt.cost_usd === null ? [] : [`$${attempt.cost_usd.toFixed(4)}`]),
  ]
  return context.facts([
    ['attempt', `${attempt.number}, ${attempt.provider}, ${attempt.mode}`],
    ['session', attempt.session],
    ['process', attempt.pid === null ? null : String(attempt.pid)],
    ['ended', attempt.cause === null ? null : [attempt.cause, ...(exit === null ? [] : [exit])].join(', ')],
    ['detail', attempt.detail],
    ['forced', attempt.forced ? 'SIGTERM did not end it' : null],
    ['left behind', attempt.leftover > 0 ? `${attempt.leftover} processes, ended` : null],
    ['spent', spent.join(', ')],
  ])
}
