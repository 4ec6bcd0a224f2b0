// How letters are carried out of a mailbox and into one: a line of an export, and what an import is asked.
import { type Static, Type } from '@sinclair/typebox'
import { Address } from './address.ts'
import { CloseReason, Imported, nullable, Reference, State } from './letter.ts'
import { LIMITS } from './limits.ts'
import { AnyName, MessageId, Name } from './names.ts'
import { RefusalBody } from './refusal-body.ts'
import { Timestamp, UnixMs } from './time.ts'

const opt = <T extends Parameters<typeof nullable>[0]>(schema: T) => Type.Optional(nullable(schema))
const strict = { additionalProperties: false }

/** One copy of an exported letter, as far as who exports may know it. */
const ExportedCopy = Type.Object({
  to_text: Type.String(),
  participant: nullable(AnyName),
  state: State,
  hidden: Type.Optional(Type.Boolean({ description: 'of a room that the account has left' })),
  notified_at: Type.Optional(Timestamp),
  opened_at: Type.Optional(Timestamp),
  opened_by: Type.Optional(Type.String()),
  closed_at: Type.Optional(Timestamp),
  closed_by: Type.Optional(Type.String()),
  close_reason: Type.Optional(CloseReason),
  updates: Type.Optional(Type.Integer()),
})

/** A letter as a line of an export holds it. */
export const ExportedLetter = Type.Object({
  message_id: MessageId,
  thread: MessageId,
  from: Address,
  from_text: Type.String(),
  recipients: Type.Optional(Type.Array(Type.String())),
  subject: Type.String(),
  body: Type.String(),
  reply_to: nullable(MessageId),
  correlation: nullable(Type.String()),
  refs: Type.Array(Reference),
  hop: Type.Integer(),
  on_behalf_of: Type.Optional(Type.String()),
  imported: Type.Optional(Imported),
  wake_suppressed: Type.Optional(Type.String()),
  created_at: Timestamp,
  created_at_unix_ms: UnixMs,
  deliveries: Type.Array(ExportedCopy),
})
export type ExportedLetter = Static<typeof ExportedLetter>

const Key = Type.String({ minLength: 1, maxLength: LIMITS.key, pattern: '^[\\x21-\\x7e]+$' })

/** One copy: of an account, or of a member of a room. */
export const ImportCopy = Type.Object(
  {
    to: AnyName,
    room: opt(Name),
    state: State,
    notified_at_unix_ms: opt(UnixMs),
    opened_at_unix_ms: opt(UnixMs),
    closed_at_unix_ms: opt(UnixMs),
    close_reason: opt(CloseReason),
    updates: opt(Type.Integer({ minimum: 0, maximum: 1_000_000_000 })),
  },
  strict,
)
export type ImportCopy = Static<typeof ImportCopy>

/** A letter to be carried in. `key` is what it is known by where it comes from; `thread` and `reply_to` are such keys. */
export const ImportLetter = Type.Object(
  {
    key: Key,
    from: AnyName,
    subject: Type.String({ maxLength: LIMITS.subject }),
    body: Type.String({ maxLength: LIMITS.body }),
    created_at_unix_ms: UnixMs,
    thread: opt(Key),
    reply_to: opt(Key),
    correlation: opt(Type.String({ minLength: 1, maxLength: LIMITS.correlation })),
    refs: opt(Type.Array(Reference, { maxItems: LIMITS.references })),
    hop: opt(Type.Integer({ minimum: 0, maximum: LIMITS.hopMax })),
    on_behalf_of: opt(Type.String({ minLength: 1, maxLength: LIMITS.label })),
    deliveries: Type.Array(ImportCopy, { maxItems: LIMITS.importCopies }),
  },
  strict,
)
export type ImportLetter = Static<typeof ImportLetter>

/** `known`: it is there already, from an earlier import or because it was sent here. */
export const ImportResult = Type.Object({
  key: Type.String(),
  outcome: Type.Union([Type.Literal('added'), Type.Literal('known'), Type.Literal('refused')]),
  message_id: Type.Optional(MessageId),
  refusal: Type.Optional(RefusalBody),
})
export type ImportResult = Static<typeof ImportResult>
