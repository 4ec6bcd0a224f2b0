// A letter: what was sent (immutable) and one account's copy of it with its honest state.
import { type Static, Type } from '@sinclair/typebox'
import { Address } from './address.ts'
import { LIMITS } from './limits.ts'
import { MessageId } from './names.ts'
import { Timestamp, UnixMs } from './time.ts'

export const nullable = <T extends Parameters<typeof Type.Optional>[0]>(schema: T) => Type.Union([schema, Type.Null()])

/** Stored and handed back verbatim, never resolved: only the application that made it knows what it means. */
export const Reference = Type.Object(
  {
    kind: Type.String({ pattern: '^[A-Za-z0-9._@+-]{1,128}$', maxLength: LIMITS.name }),
    locator: Type.String({ minLength: 1, maxLength: LIMITS.locator }),
    digest: Type.Optional(nullable(Type.String({ pattern: '^[0-9a-f]{1,128}$' }))),
  },
  { additionalProperties: false },
)
export type Reference = Static<typeof Reference>

/** new: nobody opened it. opened: somebody did (opened_by). closed: acknowledged, replied to, superseded. */
export const State = Type.Union([Type.Literal('new'), Type.Literal('opened'), Type.Literal('closed')])
export type State = Static<typeof State>

/** Why a delivery is closed. */
export const CloseReason = Type.Union([
  Type.Literal('acknowledged'),
  Type.Literal('replied'),
  Type.Literal('superseded'),
  Type.Literal('session_ended'),
])
export type CloseReason = Static<typeof CloseReason>

/** One account's copy: absent times have not happened. `*_by` are compact session addresses. */
const deliveryFields = {
  state: State,
  notified_at: Type.Optional(Timestamp),
  opened_at: Type.Optional(Timestamp),
  opened_by: Type.Optional(Type.String()),
  closed_at: Type.Optional(Timestamp),
  closed_by: Type.Optional(Type.String()),
  close_reason: Type.Optional(CloseReason),
  claimed_by: Type.Optional(Type.String()),
  claimed_until: Type.Optional(Timestamp),
}

/** A letter that an operator carried into the store: nobody proved who wrote it. */
export const Imported = Type.Object(
  {
    source: Type.Union([Type.Literal('mail4agent'), Type.Literal('aipass')]),
    id: Type.String({ description: 'what it was known by there' }),
    at: Timestamp,
  },
  { description: 'an operator carried this letter in; its sender was not proved here' },
)
export type Imported = Static<typeof Imported>

const messageFields = {
  message_id: MessageId,
  from: Address,
  from_text: Type.String({ description: 'compact address to answer to' }),
  attested_by: Type.Optional(
    Type.String({ description: 'the pinned machine that vouches for the sender; absent where this mailbox proved it' }),
  ),
  to: Address,
  to_text: Type.String(),
  recipients: Type.Optional(Type.Array(Type.String(), { description: 'all recipients, where there were several' })),
  subject: Type.String(),
  body: Type.String(),
  body_bytes: Type.Optional(Type.Integer({ description: 'whole length, where only a preview fits this answer' })),
  body_truncated: Type.Optional(Type.Boolean({ description: 'read the whole with get' })),
  reply_to: nullable(MessageId),
  thread: MessageId,
  correlation: nullable(Type.String()),
  refs: Type.Array(Reference),
  hop: Type.Integer(),
  on_behalf_of: Type.Optional(Type.String({ description: 'declared by the sender, proves nothing' })),
  imported: Type.Optional(Imported),
  wake_suppressed: Type.Optional(Type.String()),
  updates: Type.Optional(
    Type.Integer({ description: 'how many earlier signals with the same upsert key this one replaces' }),
  ),
  created_at: Timestamp,
  created_at_unix_ms: UnixMs,
  age_secs: Type.Integer(),
}

export const Message = Type.Object({ ...messageFields, ...deliveryFields, state: Type.Optional(State) })
export type Message = Static<typeof Message>

/** What became of one delivery, as its sender may know it. */
export const Receipt = Type.Object({
  to: Address,
  to_text: Type.String(),
  participant: Type.Optional(Type.String({ description: 'of a room: the account whose copy this is' })),
  ...deliveryFields,
  remote: Type.Optional(
    Type.Object(
      {
        state: Type.Union([
          Type.Literal('queued'),
          Type.Literal('sent'),
          Type.Literal('received'),
          Type.Literal('refused'),
        ]),
        at: Type.Optional(Timestamp),
        reason: Type.Optional(Type.String()),
      },
      { description: 'on another machine: how far it has come before anybody opened it' },
    ),
  ),
  session_ended: Type.Optional(Type.Boolean({ description: 'the session it was for has ended without a successor' })),
  warning: Type.Optional(Type.String()),
})
export type Receipt = Static<typeof Receipt>
