// What became of each delivery of a message, as its sender may know it.
import { type DeliveryRow, KIND, type MessageRow, type Recipient } from '../store/rows.ts'
import { parseAddress } from '../wire/address.ts'
import { bytes } from '../wire/text.ts'
import { drainWarning, isLive } from './drained.ts'
import { stateText, toText } from './letter.ts'
import type { Caller, Mail } from './mail.ts'

/**
 * The receipts of a message as a JSON array in text. Its sender and operators see all; another reader its own account's copy
 * alone. The copy of a room post in the sender's own account counts once a sibling has done something with it.
 */
export function receiptsText(mail: Mail, caller: Caller, message: MessageRow, now: number): string {
  const { account, session } = caller
  const all = message.account === account.id || account.can.operator
  const receipts: string[] = []
  for (const to of message.recipients) {
    if (!all && to.box !== account.box && to.box !== session.box) continue
    const copy = receivedCopy(mail, message, to)
    if (!copy) continue
    if (to.kind === KIND.room && to.account === message.account && copy.opened === null && copy.closed === 0) continue
    receipts.push(receiptText(mail, message, to, copy, now))
  }
  return `[${receipts.join(',')}]`
}

/** As many receipts as fit `limit` bytes. */
export function fittingReceipts(receipts: string, limit: number): string {
  const all: unknown[] = JSON.parse(receipts)
  while (all.length > 0 && bytes(JSON.stringify(all)) > limit) all.length = Math.floor(all.length * 0.9)
  return JSON.stringify(all)
}

/** The copy that a recipient's entry led to; null where the account has left the room since. */
export function receivedCopy(mail: Mail, message: MessageRow, to: Recipient): DeliveryRow | null {
  if (to.kind !== KIND.session) return mail.store.delivery(message.id, [to.box])
  // the operator may have released the letter of an ended session to its account
  const account = mail.store.registry.accountById(to.account)
  return mail.store.delivery(message.id, account ? [to.box, account.box] : [to.box])
}

function receiptText(mail: Mail, message: MessageRow, to: Recipient, copy: DeliveryRow, now: number): string {
  let text = `{${toText(parseAddress(to.text))}`
  if (to.kind === KIND.room) {
    const member = mail.store.registry.accountById(to.account)
    if (member) text += `,"participant":"${member.name}"`
  }
  text += `,${stateText(mail, copy, now)}`
  if (copy.closed === 0) {
    const remote = mail.link?.fate(message, to) ?? null
    if (remote) text += `,"remote":${JSON.stringify(remote)}`
    if (!remote && to.kind === KIND.session && hasEnded(mail, to)) text += ',"session_ended":true'
    const warning =
      to.kind === KIND.room
        ? undefined
        : drainWarning(mail, copy.box === to.box ? to : { ...to, box: copy.box, kind: copy.kind })
    if (warning !== undefined) text += `,"warning":${JSON.stringify(warning)}`
  }
  return `${text}}`
}

/** The session has ended and nobody has taken over its mailbox. */
function hasEnded(mail: Mail, to: Recipient): boolean {
  const session = mail.store.registry.sessionByBox(to.box)
  return !session || !isLive(mail, session)
}
