// The caller's own copy of a message: the delivery that get opens, ack closes and a reply settles.
import { type DeliveryRow, KIND, type MessageRow } from '../store/rows.ts'
import type { Caller, Mail } from './mail.ts'

/** The delivery of `message` to the caller, or null: its own room post is no mail to it, nor is mail of a room it left. */
export function copyOf(mail: Mail, caller: Caller, message: MessageRow): DeliveryRow | null {
  const { account, session } = caller
  const copy = mail.store.delivery(message.id, [session.box, account.box])
  if (copy === null || copy.kind !== KIND.room) return copy
  if (message.senderBox === session.box) return null
  return mail.store.registry.isMember(copy.room, account.id) ? copy : null
}
