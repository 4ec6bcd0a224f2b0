// What a reply takes from the message it answers: its recipients, subject, thread and hop; and what it settles.
import { type DeliveryRow, KIND, type MessageRow } from '../store/rows.ts'
import type { AddressInput } from '../wire/address.ts'
import { LIMITS } from '../wire/limits.ts'
import { messageId } from '../wire/names.ts'
import { malformed, Refusal } from '../wire/refusal.ts'
import type { SendRequest } from '../wire/requests.ts'
import { bytes } from '../wire/text.ts'
import { rfc3339 } from '../wire/time.ts'
import { copyOf } from './copy.ts'
import { isLive } from './drained.ts'
import { readFragment } from './fragment.ts'
import type { Caller, Mail } from './mail.ts'
import { readable } from './may-read.ts'
import { isCurrent, sessionText } from './who.ts'

/** The message replied to, and the caller's copy of it, if it has one. */
export type Parent = { message: MessageRow; copy: DeliveryRow | null }

/**
 * The message that `reply_to` names, and whether it can be closed where that is asked.
 * @throws Refusal `unknown_message`, `malformed` with field `close`, `claimed`
 */
export function parentOf(mail: Mail, caller: Caller, request: SendRequest): Parent | null {
  if (request.reply_to == null) {
    if (request.close) throw malformed('close', 'needs reply_to')
    return null
  }
  const message = readable(mail, caller, request.reply_to)
  const copy = copyOf(mail, caller, message)
  if (request.close) checkClosable(mail, caller, message, copy)
  return { message, copy }
}

function checkClosable(mail: Mail, caller: Caller, message: MessageRow, copy: DeliveryRow | null): void {
  if (!copy) throw malformed('close', 'the message replied to is not one that was delivered to you')
  const claim = mail.store.registry.claim(copy.box, message.id, mail.now())
  if (claim && claim.session !== caller.session.id && copy.closed === 0)
    throw claimedRefusal(mail, messageId(message.id, message.random), claim)
}

export const claimedRefusal = (mail: Mail, id: string, claim: { session: number; until: number }): Refusal =>
  new Refusal('claimed', `a sibling session has claimed ${id}`, {
    message_id: id,
    claimed_by: sessionText(mail, claim.session),
    claimed_until: rfc3339(claim.until),
  })

/** To whom a message goes, as addresses; `warning` says where that is not what the sender may expect. */
export type Addressed = { to: readonly AddressInput[]; warning?: string }

/**
 * To whom a reply without `to` goes: the room of a room letter, else the session that wrote. Who answers a message of its
 * own, or one that its account sent, goes on talking to those it was sent to. Where the session that wrote has ended and
 * no other has its mailbox, the answer goes to its account, openly: in the mailbox of the session nobody would read it.
 */
export function replyRecipients(mail: Mail, caller: Caller, { message, copy }: Parent): Addressed {
  const { registry } = mail.store
  const room = copy?.kind === KIND.room ? registry.roomById(copy.room) : undefined
  if (room) return { to: [`#${room.name}`] }
  const own = message.senderBox === caller.session.box || copy === null
  if (own && message.account === caller.account.id) return { to: [...new Set(message.recipients.map((to) => to.text))] }
  const account = registry.accountById(message.account)
  if (account?.kind === 'remote') return { to: [readFragment(message.json).from_text] }
  // a name that was given to another account since then does not stand for the one that wrote
  if (!account || !isCurrent(mail, account) || isAttended(mail, message.senderBox))
    return { to: [readFragment(message.json).from_text] }
  return { to: [account.name], warning: 'the session that wrote has ended; sent to its account' }
}

/** Some session that runs has that mailbox: the one that wrote, or its successor. */
function isAttended(mail: Mail, box: number): boolean {
  const holder = mail.store.registry.sessionByBox(box)
  return holder !== undefined && isLive(mail, holder)
}

/** `Re: ` once; where it would not fit, the original subject as it is. */
export const replySubject = ({ message }: Parent): string => replySubjectOf(readFragment(message.json).subject)

export function replySubjectOf(subject: string): string {
  const reply = /^re:/i.test(subject) ? subject : `Re: ${subject}`.trimEnd()
  return bytes(reply) <= LIMITS.subject ? reply : subject
}

/**
 * How often mail has gone to and fro in this thread since a person wrote.
 * @throws Refusal `hop_limit`
 */
export function hopOf(mail: Mail, caller: Caller, parent: Parent | null): number {
  if (caller.account.kind === 'person') return 0
  // what is begun in a turn that mail started goes on from that mail: else a loop would begin anew with each send
  // a letter without a parent, in a turn that mail started, goes on from that mail
  const run = parent ? null : mail.runs.of(caller)
  const woken = parent ? null : mail.wakes.hop(caller.session)
  if (!parent && !run && woken === null) return 0
  const hop = (parent?.message.hop ?? Math.max(run?.hop ?? 0, woken ?? 0)) + 1
  if (hop > LIMITS.hopMax) throw new Refusal('hop_limit', `this would be hop ${hop}`, { hop, limit: LIMITS.hopMax })
  return hop
}
