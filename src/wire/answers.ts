// What each mail operation answers. Every list says has_more and gives the cursor of its end.
import { type Static, Type } from '@sinclair/typebox'
import { Address } from './address.ts'
import { Card, SessionEntry } from './card.ts'
import { Dispatched } from './dispatch.ts'
import { Explanation } from './explain.ts'
import { Message, nullable, Receipt } from './letter.ts'
import { Cursor, MessageId, Name } from './names.ts'
import { RefusalBody } from './refusal-body.ts'
import { Timestamp, UnixMs } from './time.ts'
import { ExportedLetter } from './transfer.ts'

const now = { now: Timestamp }
const paged = { has_more: Type.Boolean(), cursor: nullable(Cursor) }

/** What happened to one recipient of a send: its delivery, or why there is none. */
export const SendResult = Type.Object({
  to: Address,
  to_text: Type.String(),
  ok: Type.Boolean(),
  state: Type.Optional(Type.String()),
  warning: Type.Optional(
    Type.String({
      description: 'what the sender should know: nobody drains that mailbox, or the answer went to the account',
    }),
  ),
  refusal: Type.Optional(RefusalBody),
})
export type SendResult = Static<typeof SendResult>

export const SendAnswer = Type.Object({
  message_id: MessageId,
  thread: MessageId,
  from: Address,
  from_text: Type.String(),
  results: Type.Array(SendResult),
  more_results: Type.Optional(
    Type.Integer({ description: 'so many more recipients are not listed; every one that was refused is' }),
  ),
  duplicate: Type.Optional(
    Type.Boolean({ description: 'the same idempotency_key was used before; this is that message' }),
  ),
  dispatch: Type.Optional(Dispatched),
  closed: Type.Optional(MessageId),
  superseded: Type.Optional(Type.Integer()),
  wake_suppressed: Type.Optional(Type.String()),
  hop: Type.Integer(),
  created_at: Timestamp,
  created_at_unix_ms: UnixMs,
  ...now,
})
export type SendAnswer = Static<typeof SendAnswer>

/** Mail of sessions that ended without a successor: the account sees that it is there, not what it says. */
export const Orphans = Type.Object({
  count: Type.Integer(),
  letters: Type.Array(
    Type.Object({ message_id: MessageId, from_text: Type.String(), to_text: Type.String(), created_at: Timestamp }),
  ),
})
export type Orphans = Static<typeof Orphans>

export const InboxAnswer = Type.Object({
  messages: Type.Array(Message),
  unread: Type.Integer(),
  orphaned: Type.Optional(Orphans),
  waited_secs: Type.Optional(Type.Number()),
  ...paged,
  ...now,
})

export const Ack = Type.Object({
  message_id: MessageId,
  reader: Address,
  acked_at: Timestamp,
  acked_at_unix_ms: UnixMs,
})
export type Ack = Static<typeof Ack>
export const BatchResult = Type.Object({
  message_id: MessageId,
  ok: Type.Boolean(),
  refusal: Type.Optional(RefusalBody),
})
export type BatchResult = Static<typeof BatchResult>
export const AckAnswer = Type.Object({
  ack: Ack,
  ...Ack.properties,
  results: Type.Array(BatchResult),
  unread: Type.Integer(),
  ...now,
})
export const ReopenAnswer = Type.Object({ results: Type.Array(BatchResult), unread: Type.Integer(), ...now })
export const ClaimAnswer = Type.Object({
  results: Type.Array(BatchResult),
  claimed_until: nullable(Timestamp),
  unread: Type.Integer(),
  ...now,
})
export const UnreadAnswer = Type.Object({
  target: Address,
  unread: Type.Integer(),
  oldest_age_secs: nullable(Type.Integer()),
  ...now,
})
export const NoticeAnswer = Type.Object({
  account: Name,
  fresh: Type.Integer({ description: 'letters that this session is told of now, and never again' }),
  more: Type.Boolean({ description: 'there are more than were counted' }),
  unread: Type.Integer(),
  senders: Type.Array(Type.Object({ from_text: Type.String(), count: Type.Integer(), person: Type.Boolean() })),
  ...now,
})
export const GetAnswer = Type.Intersect([Message, Type.Object(now)])
export const ListAnswer = Type.Object({ messages: Type.Array(Message), ...paged, ...now })
export const ExportAnswer = Type.Object({ letters: Type.Array(ExportedLetter), ...paged, ...now })
export const SentAnswer = Type.Object({
  messages: Type.Array(Type.Intersect([Message, Type.Object({ deliveries: Type.Array(Receipt) })])),
  ...paged,
  ...now,
})
export const ReceiptsAnswer = Type.Object({
  receipts: Type.Array(
    Type.Object({
      message_id: MessageId,
      subject: Type.String(),
      created_at: Timestamp,
      deliveries: Type.Array(Receipt),
    }),
  ),
  ...paged,
  ...now,
})
export const WhoamiAnswer = Type.Object({
  address: Address,
  address_text: Type.String(),
  account: Name,
  label: nullable(Type.String()),
  capabilities: Type.Array(Type.String()),
  rooms: Type.Array(Name),
  rooms_more: Type.Optional(Type.Boolean({ description: 'there are more rooms than are listed' })),
  card: nullable(Card),
  unread: Type.Integer(),
  explain: Type.Optional(Explanation),
  ...now,
})
export const StatusAnswer = Type.Object({ card: Card, ...now })
export const DirectoryAnswer = Type.Object({
  participants: Type.Array(
    Type.Object({ id: Name, label: nullable(Type.String()), kind: Type.String(), sessions: Type.Array(SessionEntry) }),
  ),
  rooms: Type.Array(Type.Object({ id: Name, member: Type.Boolean(), members: Type.Integer() })),
  rooms_more: Type.Optional(Type.Boolean({ description: 'there are more rooms than fit; your own come first' })),
  has_more: Type.Boolean(),
  after: nullable(Name),
  ...now,
})
export const PingAnswer = Type.Object({
  target: Address,
  target_text: Type.String(),
  live_sessions: Type.Integer(),
  last_seen: nullable(Timestamp),
  unread: Type.Integer(),
  oldest_unread_age_secs: nullable(Type.Integer()),
  waiting: Type.Integer({ description: 'readers parked on this mailbox right now' }),
  warning: Type.Optional(Type.String()),
  ...now,
})
export const NotifyAnswer = Type.Object({
  account: Name,
  on: Type.Boolean(),
  through: Type.String({ description: 'what shows notifications on this system' }),
  waiting: Type.Boolean({ description: 'there is news that is about to be shown' }),
  shown_at: nullable(Timestamp),
  failure: nullable(Type.String({ description: 'why the last one was not shown' })),
  failure_at: nullable(Timestamp),
  ...now,
})

export type AckAnswer = Static<typeof AckAnswer>
export type ReopenAnswer = Static<typeof ReopenAnswer>
export type ClaimAnswer = Static<typeof ClaimAnswer>
export type GetAnswer = Static<typeof GetAnswer>
export type NoticeAnswer = Static<typeof NoticeAnswer>
export type UnreadAnswer = Static<typeof UnreadAnswer>
export type ReceiptsAnswer = Static<typeof ReceiptsAnswer>
export type WhoamiAnswer = Static<typeof WhoamiAnswer>
export type StatusAnswer = Static<typeof StatusAnswer>
export type DirectoryAnswer = Static<typeof DirectoryAnswer>
export type PingAnswer = Static<typeof PingAnswer>
export type NotifyAnswer = Static<typeof NotifyAnswer>
export type InboxAnswer = Static<typeof InboxAnswer>
export type ExportAnswer = Static<typeof ExportAnswer>
export type ListAnswer = Static<typeof ListAnswer>
export type SentAnswer = Static<typeof SentAnswer>
