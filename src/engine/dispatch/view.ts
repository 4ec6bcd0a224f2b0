// A dispatch as its reader sees it, and who may see it.
import type { AttemptRow, DispatchRow } from '../../store/dispatch/rows.ts'
import type { Attempt, Dispatch, Dispatched } from '../../wire/dispatch.ts'
import { messageId } from '../../wire/names.ts'
import { Refusal } from '../../wire/refusal.ts'
import { rfc3339, rfc3339OrNull } from '../../wire/time.ts'
import { readFragment } from '../fragment.ts'
import { ageOf } from '../letter.ts'
import type { Caller, Mail } from '../mail.ts'
import { mayRead } from '../may-read.ts'

const nameOf = (mail: Mail, account: number): string => mail.store.registry.accountById(account)?.name ?? 'unknown'

/** Who asked for it, the agent itself, and operators. */
export const maySee = ({ account }: Caller, row: DispatchRow): boolean =>
  account.can.operator || row.by === account.id || row.agent === account.id

/** @throws Refusal `unknown_dispatch`, the same for one that is not the caller's to see */
export function visibleDispatch(mail: Mail, caller: Caller, id: number): DispatchRow {
  const row = mail.store.dispatches.get(id)
  if (!row || !maySee(caller, row)) throw new Refusal('unknown_dispatch', `no dispatch ${id}`, { id })
  return row
}

const idOf = (mail: Mail, id: number | null): string | null => {
  const message = id === null ? null : mail.store.message(id)
  return message ? messageId(message.id, message.random) : null
}

/** How many of the same agent are before it; undefined unless it is queued. */
function positionOf(mail: Mail, row: DispatchRow): number | undefined {
  if (row.state !== 'queued') return undefined
  return mail.store.dispatches.open().filter(({ id, agent }) => agent === row.agent && id < row.id).length
}

export function dispatchView(mail: Mail, caller: Caller, row: DispatchRow): Dispatch {
  const { store } = mail
  const message = row.message === null ? null : store.message(row.message)
  const state = row.state === 'ending' ? 'running' : row.state
  const position = positionOf(mail, row)
  const activity = state === 'running' ? (mail.runs.activity(row.id) ?? undefined) : undefined
  return {
    id: row.id,
    agent: nameOf(mail, row.agent),
    by: nameOf(mail, row.by),
    message_id: message ? messageId(message.id, message.random) : null,
    thread: idOf(mail, row.thread),
    subject: message && mayRead(mail, caller, message) ? readFragment(message.json).subject : null,
    state,
    ...(position === undefined ? {} : { position }),
    outcome: row.outcome,
    reason: row.reason,
    fresh: row.fresh,
    depth: row.depth,
    attempts: store.dispatches.attempts(row.id).length,
    ...(activity === undefined ? {} : { activity }),
    created_at: rfc3339(row.created),
    started_at: rfc3339OrNull(row.started),
    ended_at: rfc3339OrNull(row.ended),
    age_secs: ageOf(row.created, mail.now()),
    reply: idOf(mail, row.reply),
    bounce: idOf(mail, row.bounce),
  }
}

export const attemptView = (row: AttemptRow): Attempt => ({
  number: row.number,
  run: row.run,
  provider: row.provider,
  mode: row.mode,
  session: row.session,
  pid: row.pid,
  planned_at: rfc3339(row.planned),
  spawned_at: rfc3339OrNull(row.spawned),
  healthy_at: rfc3339OrNull(row.healthy),
  ended_at: rfc3339OrNull(row.ended),
  cause: row.cause,
  detail: row.detail,
  exit: row.exit,
  signal: row.signal,
  forced: row.forced,
  leftover: row.leftover,
  cost_usd: row.cost,
  turns: row.turns,
  tokens: row.tokens,
  tail: row.tail,
})

/** What the answer to a send or a wake says of the dispatch that it brought. */
export function dispatchedView(mail: Mail, row: DispatchRow): Dispatched {
  const position = positionOf(mail, row)
  return {
    id: row.id,
    agent: nameOf(mail, row.agent),
    state: row.state === 'ending' ? 'running' : row.state,
    ...(position === undefined ? {} : { position }),
    depth: row.depth,
  }
}
