// The one function that decides what a caller may read: its own deliveries and what its account sent; operators all.
import { KIND, type MessageRow } from '../store/rows.ts'
import { type MessageId, randomOf, sequenceOf } from '../wire/names.ts'
import { Refusal } from '../wire/refusal.ts'
import type { Caller, Mail } from './mail.ts'

/**
 * May the caller read this message? Membership of rooms counts as it is now. Session mail is its session's alone (and its
 * successor's), and so is what a session sent to a sibling or in answer to session mail: never a sibling's.
 */
export function mayRead(mail: Mail, caller: Caller, message: MessageRow): boolean {
  const { account, session } = caller
  if (account.can.operator) return true
  if (message.account === account.id && (message.scope === 0 || message.scope === session.box)) return true
  let lostSession = false
  for (const to of message.recipients) {
    if (to.account !== account.id) continue
    if (to.kind === KIND.room) {
      if (mail.store.registry.isMember(to.room, account.id)) return true
    } else if (to.box === account.box || to.box === session.box) return true
    else lostSession = true
  }
  // mail of an ended session that the operator released lies in the account's box
  return lostSession && mail.store.delivery(message.id, [account.box]) !== null
}

/**
 * The message with that id, if the caller may read it.
 * @throws Refusal `unknown_message`, the same for an id that does not exist and one that is not the caller's to read
 */
export function readable(mail: Mail, caller: Caller, id: MessageId): MessageRow {
  const message = mail.store.message(sequenceOf(id))
  // the random half of an id is part of it: who counts sequence numbers learns nothing
  if (!message || message.random !== randomOf(id) || !mayRead(mail, caller, message)) throw unknownMessage(id)
  return message
}

export const unknownMessage = (id: MessageId): Refusal =>
  new Refusal('unknown_message', `no message ${id}`, { message_id: id })
