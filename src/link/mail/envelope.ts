// What crosses between machines: envelopes (a message, or what became of one), put into numbered frames, inside the encryption.
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { Reference } from '../../wire/letter.ts'
import { LIMITS } from '../../wire/limits.ts'
import { MessageId, Name, SessionId } from '../../wire/names.ts'

/** Event type inside the encryption. */
export const EVENT = 'net.mail4agent.mail'

/** A message of the sender (`me`) or of the one that reads this (`you`), by the id that it has there. */
const Known = Type.Object({ of: Type.Union([Type.Literal('me'), Type.Literal('you')]), id: MessageId })
export type Known = Static<typeof Known>

const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()])

/** Unknown members are left alone, so that a later version may add some. There is no machine in it: the pin says that. */
export const MailEnvelope = Type.Object({
  v: Type.Literal(1),
  kind: Type.Literal('mail'),
  id: MessageId,
  from: Type.Object({ account: Name, session: SessionId }),
  /** Compact addresses as on the machine that reads this. */
  to: Type.Array(Type.String({ minLength: 1, maxLength: 300 }), { minItems: 1, maxItems: 10_000 }),
  subject: Type.String({ maxLength: LIMITS.subject }),
  body: Type.String({ maxLength: LIMITS.body }),
  thread: Known,
  reply_to: nullable(Known),
  correlation: nullable(Type.String({ maxLength: LIMITS.correlation })),
  refs: Type.Array(Reference, { maxItems: LIMITS.references }),
  hop: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
})
export type MailEnvelope = Static<typeof MailEnvelope>

export const ReceiptEnvelope = Type.Object({
  v: Type.Literal(1),
  kind: Type.Literal('receipt'),
  /** The message of the one that reads this. */
  id: MessageId,
  to: Type.String({ maxLength: 300 }),
  state: Type.Union([Type.Literal('opened'), Type.Literal('closed'), Type.Literal('refused')]),
  /** Who opened or closed it: account and session there. */
  by: nullable(Type.Object({ account: Name, session: SessionId })),
  /** Why it is closed, or refused. */
  reason: nullable(Type.String({ maxLength: 500 })),
})
export type ReceiptEnvelope = Static<typeof ReceiptEnvelope>
export type Envelope = MailEnvelope | ReceiptEnvelope

/** Frames count up from 1 in a stream; those below `base` have arrived. A stream begins with the time when it was made. */
export const Frame = Type.Object({
  v: Type.Literal(1),
  kind: Type.Literal('frame'),
  stream: Type.String({ minLength: 1, maxLength: 100 }),
  seq: Type.Integer({ minimum: 1 }),
  base: Type.Integer({ minimum: 1 }),
  /** The text goes on in the next frame. */
  more: Type.Boolean(),
  data: Type.String({ maxLength: 100_000 }),
})
export type Frame = Static<typeof Frame>

export const Ack = Type.Object({
  v: Type.Literal(1),
  kind: Type.Literal('ack'),
  stream: Type.String({ minLength: 1, maxLength: 100 }),
  up_to: Type.Integer({ minimum: 0 }),
  /** Frames behind this one are there, it is not. */
  missing: Type.Optional(Type.Integer({ minimum: 1 })),
})
export type Ack = Static<typeof Ack>

export const isFrame = (value: unknown): value is Frame => Value.Check(Frame, value)
export const isAck = (value: unknown): value is Ack => Value.Check(Ack, value)

/** Bytes in a frame: twice base64 and the rest of an event stay below the 65,536 that an event may have, Matrix CS §8.3. */
const CHUNK = 30_000
/** Bytes that may come in several frames: a body with everything escaped, and 10,000 recipients. */
export const WHOLE_MOST = 4_000_000

export type Chunk = { more: boolean; data: string }

export function chunksOf(envelopes: readonly string[]): Chunk[] {
  const bytes = Buffer.from(`[${envelopes.join(',')}]`)
  const chunks: Chunk[] = []
  for (let at = 0; at < bytes.length; at += CHUNK)
    chunks.push({ more: at + CHUNK < bytes.length, data: bytes.subarray(at, at + CHUNK).toString('base64') })
  return chunks
}

/** The envelopes that we know of a text in base64 pieces; what is none is counted. */
export function envelopesOf(data: string): { known: Envelope[]; odd: number } {
  let values: unknown = null
  try {
    values = JSON.parse(Buffer.from(data, 'base64').toString())
  } catch {}
  if (!Array.isArray(values)) return { known: [], odd: 1 }
  const known = values.filter(isEnvelope)
  return { known, odd: values.length - known.length }
}

const isEnvelope = (value: unknown): value is Envelope =>
  Value.Check(MailEnvelope, value) || Value.Check(ReceiptEnvelope, value)
