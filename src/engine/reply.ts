// What a reply takes from the message it answers: its recipients, subject, thread and hop; and what it settles.
import { type DeliveryRow, KIND, type MessageRow } from '../store/rows.ts'
import { LIMITS } from '../wire/limits.ts'
import { messageId } from '../wire/names.ts'
import { malformed, Refusal } from '../wire/refusal.ts'
import type { SendRequest } from '../wire/requests.ts'
import { bytes } from '../wire/text.ts'
import { rfc3339 } from '../wire/time.ts'
import { copyOf } from './copy.ts'
import { readFragment } from './fragment.ts'
import type { Caller, Mail } from './mail.ts'
import { readable } from './may-read.ts'
import { sessionText } from './who.ts'

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

/**
 * To whom a reply without `to` goes: the room of a room letter, else the session that wrote. Who answers its own message
 * goes on talking to those it was sent to.
 */
export function replyRecipients(mail: Mail, caller: Caller, { message, copy }: Parent): string[] {
  const room = copy?.kind === KIND.room ? mail.store.registry.roomById(copy.room) : undefined
  if (room) return [`#${room.name}`]
  if (message.senderBox === caller.session.box && message.account === caller.account.id)
    return [...new Set(message.recipients.map((to) => to.text))]
  return [readFragment(message.json).from_text]
}

/** `Re: ` once; where it would not fit, the original subject as it is. */
export function replySubject({ message }: Parent): string {
  const { subject } = readFragment(message.json)
  const reply = /^re:/i.test(subject) ? subject : `Re: ${subject}`.trimEnd()
  return bytes(reply) <= LIMITS.subject ? reply : subject
}

/**
 * How often mail has gone to and fro in this thread since a person wrote.
 * @throws Refusal `hop_limit`
 */
export function hopOf(caller: Caller, parent: Parent | null): number {
  if (!parent || caller.account.kind === 'person') return 0
  const hop = parent.message.hop + 1
  if (hop > LIMITS.hopMax) throw new Refusal('hop_limit', `this would be hop ${hop}`, { hop, limit: LIMITS.hopMax })
  return hop
}
