// traffic: everything that was sent, or all that one account sent, newest first, with what became of it.
import type { AdminAnswer, AdminRequest } from '../../wire/admin.ts'
import { LIMITS } from '../../wire/limits.ts'
import { positionOf } from '../cursor.ts'
import type { Mail } from '../mail.ts'
import { entriesAnswer, entryOf, statesOf } from './entries.ts'
import { knownAccount } from './known.ts'

/** @throws Refusal `unknown_participant`, `cursor_expired` */
export function traffic(mail: Mail, request: AdminRequest<'traffic'>): AdminAnswer<'traffic'> {
  const { store } = mail
  const from = request.from == null ? null : knownAccount(mail, request.from).id
  const before = positionOf(store, request.cursor) ?? Number.MAX_SAFE_INTEGER
  const limit = request.limit ?? LIMITS.pageDefault
  const rows = store.ledger.messages(from, before, limit + 1)
  const shown = rows.slice(0, limit)
  const now = mail.now()
  const letters = shown.map((message) => ({ ...entryOf(message, now), states: statesOf(mail, message) }))
  return entriesAnswer(mail, letters, shown.at(-1)?.id ?? null, rows.length > limit, request.cursor)
}
