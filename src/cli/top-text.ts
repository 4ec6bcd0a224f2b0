// The overview as lines: one of figures, then a row for each account.
import type { AccountState, OverviewAnswer, Part } from '../wire/overview.ts'
import { escapeLine } from './escape.ts'
import type { Paint } from './paint.ts'
import { cut, table } from './table.ts'
import { span } from './times.ts'

/** `size` null: a pipe, where nothing is cut. */
export function topText(
  answer: OverviewAnswer,
  size: { columns: number; rows: number } | null,
  paint: Paint,
): string[] {
  const columns = size?.columns ?? null
  const accounts = size === null ? answer.accounts : [...answer.accounts].sort(busyFirst)
  const fitting = size === null ? accounts.length : Math.max(1, size.rows - FRAME)
  const shown = accounts.length <= fitting ? accounts : accounts.slice(0, Math.max(1, fitting - 1))
  const rows = table(HEAD, shown.map(rowOf), columns, paint).split('\n').slice(0, -1)
  const left = accounts.length - shown.length
  const figures = figuresOf(answer)
  return [
    columns === null ? figures : paint('bold', cut(figures, columns)),
    ...rows,
    ...(left > 0 ? [paint('dim', `and ${left} more`)] : []),
  ]
}

/** Lines that are no account: figures, head, and what stands below. */
const FRAME = 3
const HEAD = ['account', 'kind', 'live', 'unread', 'oldest', 'to sessions', 'waiting', 'doorbell']

function figuresOf({ accounts, orphaned_sessions, parts }: OverviewAnswer): string {
  const sum = (count: (account: AccountState) => number) => accounts.reduce((total, one) => total + count(one), 0)
  const oldest = Math.max(-1, ...accounts.map((account) => account.oldest_unread_age_secs ?? -1))
  return [
    `${sum((account) => account.live_sessions)} live`,
    `${sum((account) => account.unread + account.session_unread)} unread${oldest < 0 ? '' : `, oldest ${span(oldest)}`}`,
    ...(orphaned_sessions > 0 ? [`${orphaned_sessions} ended with mail: mail4agent admin orphans list`] : []),
    part('wake', parts.wake),
    part('dispatch', parts.dispatch),
    part('other machines', parts.link),
  ].join(' · ')
}

const part = (name: string, { state, note }: Part): string =>
  `${name} ${state}${note === null ? '' : ` (${escapeLine(note)})`}`

/** Whoever lives or has mail, then the others; each by name, as the mailbox gives them. */
const busyFirst = (a: AccountState, b: AccountState): number => Number(isBusy(b)) - Number(isBusy(a))
const isBusy = (account: AccountState): boolean =>
  account.live_sessions + account.unread + account.session_unread + account.waiting > 0

const rowOf = (account: AccountState): string[] => [
  account.id,
  account.kind,
  String(account.live_sessions),
  String(account.unread),
  account.oldest_unread_age_secs === null ? '' : span(account.oldest_unread_age_secs),
  String(account.session_unread),
  String(account.waiting),
  bellText(account.doorbell),
]

function bellText(bell: AccountState['doorbell']): string {
  if (bell === null) return ''
  const due = bell.pending > 0 ? `, ${bell.pending} due` : ''
  if (bell.last_error !== null) return `fails: ${bell.last_error}${due}`
  return `${bell.last_ok === null ? 'not rung yet' : 'answers'}${due}`
}
