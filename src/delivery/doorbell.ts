// What a doorbell says: account, address, message id, sender. Never a subject or a body; and nothing for mail that is seen.
import { isImported } from '../engine/fragment.ts'
import type { AccountRow, MessageRow } from '../store/rows.ts'
import { KIND } from '../store/rows.ts'
import type { Store } from '../store/store.ts'
import { parseAddress } from '../wire/address.ts'
import type { DoorbellRing } from '../wire/doorbell.ts'
import type { Message } from '../wire/letter.ts'
import { LIMITS } from '../wire/limits.ts'
import { messageId } from '../wire/names.ts'

export type Doorbell = { readonly box: number; readonly body: string }

/**
 * The doorbell for message `id` as the store has it at this moment: for the first of `boxes` where it is neither opened
 * nor closed. Null where there is none, and where the message rings nobody.
 */
export function doorbell(store: Store, account: AccountRow, id: number, boxes: readonly number[]): Doorbell | null {
  const box = unopenedIn(store, id, boxes)
  if (box === null) return null
  const row = store.message(id)
  if (!row || row.hop > LIMITS.hopQuiet || isImported(row.json)) return null
  const message: Pick<Message, 'from' | 'wake_suppressed'> = JSON.parse(`{${row.json}}`)
  if (message.wake_suppressed !== undefined) return null
  // released mail lies in the account's box, but it was sent to the session's
  const to = row.recipients.find((one) => one.box === box) ?? row.recipients.find((one) => one.account === account.id)
  if (!to || (to.kind === KIND.room && !hasReader(store, account, row))) return null
  const said: DoorbellRing = {
    account: account.name,
    to: parseAddress(to.text),
    message_id: messageId(row.id, row.random),
    from: message.from,
  }
  return { box, body: JSON.stringify(said) }
}

/** The first of `boxes` where message `id` is neither opened nor closed, or null. */
export function unopenedIn(store: Store, id: number, boxes: readonly number[]): number | null {
  for (const box of boxes) {
    const copy = store.delivery(id, [box])
    if (copy && copy.closed === 0 && copy.opened === null) return box
  }
  return null
}

/** A room post lies in its sender's account too, for the sibling sessions: without one it is no mail to anybody there. */
function hasReader(store: Store, account: AccountRow, row: MessageRow): boolean {
  if (row.account !== account.id) return true
  return store.registry.liveSessions().some((one) => one.account === account.id && one.box !== row.senderBox)
}
