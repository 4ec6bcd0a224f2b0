// What each mail operation is asked: one schema per operation, used by HTTP, MCP, OpenAPI and the CLI.
import { type Static, Type } from '@sinclair/typebox'
import { AddressInput, CompactAddress } from './address.ts'
import { DeclaredInput } from './card.ts'
import { nullable, Reference } from './letter.ts'
import { LIMITS } from './limits.ts'
import { Cursor, Key, MessageId, Name } from './names.ts'

const strict = { additionalProperties: false }
const opt = <T extends Parameters<typeof nullable>[0]>(schema: T) => Type.Optional(nullable(schema))
const Ids = Type.Array(MessageId, { minItems: 1, maxItems: LIMITS.batch })

const page = {
  limit: opt(Type.Integer({ minimum: 1, maximum: LIMITS.pageMax })),
  cursor: opt(Cursor),
  max_bytes: opt(
    Type.Integer({ minimum: LIMITS.budgetMin, maximum: LIMITS.budgetMax, description: 'budget of the answer' }),
  ),
}

const list = {
  brief: opt(Type.Boolean({ description: 'without bodies, for a table: the letters are not opened by going on' })),
  ...page,
}

export const SendRequest = Type.Object(
  {
    to: opt(Type.Union([AddressInput, Type.Array(AddressInput, { minItems: 1, maxItems: LIMITS.recipients })])),
    subject: opt(Type.String({ maxLength: LIMITS.subject })),
    body: Type.String({ maxLength: LIMITS.body }),
    reply_to: opt(MessageId),
    close: opt(Type.Boolean({ description: 'with reply_to: also settles the message replied to' })),
    correlation: opt(Type.String({ minLength: 1, maxLength: LIMITS.correlation })),
    refs: opt(Type.Array(Reference, { maxItems: LIMITS.references })),
    idempotency_key: opt(Key),
    upsert_key: opt(Key),
    on_behalf_of: opt(Type.String({ minLength: 1, maxLength: LIMITS.label })),
    dispatch: opt(
      Type.Union([Type.Literal('resume'), Type.Literal('fresh')], {
        description: 'start the recipient to handle it: in its usual session, or in a new one',
      }),
    ),
  },
  strict,
)

export const InboxState = Type.Union([
  Type.Literal('open'),
  Type.Literal('new'),
  Type.Literal('opened'),
  Type.Literal('closed'),
  Type.Literal('all'),
])

export const InboxRequest = Type.Object(
  {
    state: opt(InboxState),
    since_unix_ms: opt(Type.Integer({ minimum: 0 })),
    wait_secs: opt(Type.Integer({ minimum: 0, maximum: 65_535, description: 'clamped to the cap of the door' })),
    ...list,
  },
  strict,
)

/** Closed mail, newest first. */
export const ArchiveRequest = Type.Object(
  {
    written_by: opt(CompactAddress),
    room: opt(Name),
    since_unix_ms: opt(Type.Integer({ minimum: 0 })),
    until_unix_ms: opt(Type.Integer({ minimum: 0 })),
    ...list,
  },
  strict,
)
export const ExportRequest = Type.Object(
  {
    message_id: opt(MessageId),
    of: opt(Name),
    all: opt(Type.Boolean({ description: 'of every account; for operators' })),
    cursor: opt(Cursor),
    max_bytes: page.max_bytes,
  },
  strict,
)

const oneOrMany = { message_id: opt(MessageId), message_ids: opt(Ids) }

export const AckRequest = Type.Object(oneOrMany, strict)
export const ReopenRequest = Type.Object(oneOrMany, strict)
export const ClaimRequest = Type.Object(
  {
    ...oneOrMany,
    claim_secs: opt(
      Type.Integer({ minimum: 0, maximum: LIMITS.claimSeconds, description: '0 gives it back; default 600' }),
    ),
  },
  strict,
)
export const GetRequest = Type.Object(
  { message_id: MessageId, peek: opt(Type.Boolean({ description: 'leave its state as it is' })) },
  strict,
)
export const UnreadRequest = Type.Object({ target: opt(AddressInput) }, strict)
export const SentRequest = Type.Object({ ...list }, strict)
export const ThreadRequest = Type.Object({ message_id: MessageId, ...list }, strict)
export const SearchRequest = Type.Object(
  {
    query: opt(Type.String({ minLength: 1, maxLength: LIMITS.query })),
    written_by: opt(CompactAddress),
    to: opt(CompactAddress),
    state: opt(Type.Union([Type.Literal('new'), Type.Literal('opened'), Type.Literal('closed')])),
    box: opt(Type.Union([Type.Literal('received'), Type.Literal('sent')])),
    thread: opt(MessageId),
    since_unix_ms: opt(Type.Integer({ minimum: 0 })),
    until_unix_ms: opt(Type.Integer({ minimum: 0 })),
    ...list,
  },
  strict,
)
export const ReceiptsRequest = Type.Object({ message_id: opt(MessageId), ...page }, strict)
export const NoticeRequest = Type.Object(
  {
    starts_turn: opt(
      Type.Boolean({ description: 'the notice makes the agent go on: leave out mail that must wake nobody' }),
    ),
    moment: opt(
      Type.Union(
        (['start', 'prompt', 'tool', 'stop'] as const).map((moment) => Type.Literal(moment)),
        { description: 'at which moment of its client the agent is told' },
      ),
    ),
  },
  strict,
)
export const WhoamiRequest = Type.Object(
  { explain: opt(Type.Boolean({ description: 'also say how the mailbox came to that' })) },
  strict,
)
export const StatusRequest = DeclaredInput
export const DirectoryRequest = Type.Object(
  {
    limit: opt(Type.Integer({ minimum: 1, maximum: LIMITS.pageMax })),
    after: opt(Type.String({ maxLength: LIMITS.name })),
    max_bytes: page.max_bytes,
  },
  strict,
)
export const PingRequest = Type.Object({ target: AddressInput }, strict)
export const NotifyRequest = Type.Object(
  { do: Type.Union([Type.Literal('status'), Type.Literal('test'), Type.Literal('on'), Type.Literal('off')]) },
  strict,
)

export type SendRequest = Static<typeof SendRequest>
export type InboxRequest = Static<typeof InboxRequest>
export type ArchiveRequest = Static<typeof ArchiveRequest>
export type ExportRequest = Static<typeof ExportRequest>
export type AckRequest = Static<typeof AckRequest>
export type ReopenRequest = Static<typeof ReopenRequest>
export type ClaimRequest = Static<typeof ClaimRequest>
export type GetRequest = Static<typeof GetRequest>
export type NoticeRequest = Static<typeof NoticeRequest>
export type UnreadRequest = Static<typeof UnreadRequest>
export type SentRequest = Static<typeof SentRequest>
export type ThreadRequest = Static<typeof ThreadRequest>
export type SearchRequest = Static<typeof SearchRequest>
export type ReceiptsRequest = Static<typeof ReceiptsRequest>
export type WhoamiRequest = Static<typeof WhoamiRequest>
export type StatusRequest = Static<typeof StatusRequest>
export type DirectoryRequest = Static<typeof DirectoryRequest>
export type PingRequest = Static<typeof PingRequest>
export type NotifyRequest = Static<typeof NotifyRequest>
