// mailbox: the letters of any account, newest first: those to it and its rooms, and those to its sessions.
import type { DeliveryRow } from '../../store/rows.ts'
import type { AdminAnswer, AdminRequest } from '../../wire/admin.ts'
import { LIMITS } from '../../wire/limits.ts'
import { positionOf } from '../cursor.ts'
import type { Mail } from '../mail.ts'
import { entriesAnswer, entryOf, stateOf } from './entries.ts'
import { knownAccount } from './known.ts'

/**
 * Looking changes no state. Mail to the account's newest 200 sessions is among it, also to those that have ended.
 * @throws Refusal `unknown_participant`, `cursor_expired`
 */
export function mailbox(mail: Mail, request: AdminRequest<'mailbox'>): AdminAnswer<'mailbox'> {
  const { store } = mail
  const account = knownAccount(mail, request.account)
  const closed = request.state === 'closed' ? 1 : 0
  const before = positionOf(store, request.cursor) ?? Number.MAX_SAFE_INTEGER
  const limit = request.limit ?? LIMITS.pageDefault
  const boxes = [account.box, ...store.ledger.sessionBoxes(account.id)].filter(
    (box) => closed === 1 || store.openCount(box) > 0,
  )
  const rows = boxes.flatMap((box) => store.ledger.newest(box, closed, before, limit + 1)).sort((a, b) => b.id - a.id)
  const shown = once(rows).slice(0, limit + 1)
  const now = mail.now()
  const letters = shown.slice(0, limit).flatMap((row) => {
    const message = store.message(row.id)
    return message ? [{ ...entryOf(message, now), state: stateOf(row) }] : []
  })
  return entriesAnswer(mail, letters, shown.slice(0, limit).at(-1)?.id ?? null, shown.length > limit, request.cursor)
}

/** A room letter that siblings have not closed yet lies in several boxes: it is one letter. */
function once(rows: readonly DeliveryRow[]): DeliveryRow[] {
  return rows.filter((row, at) => row.id !== rows[at - 1]?.id)
}
