// The card of a session: what is attested, what is corroborated (with its source), what it declares. Never flattened.
import { type Static, Type } from '@sinclair/typebox'
import { nullable } from './letter.ts'
import { LIMITS } from './limits.ts'
import { SessionId } from './names.ts'
import { Timestamp, UnixMs } from './time.ts'

const text = nullable(Type.String())

/** From the kernel; the process itself cannot write it. */
export const Attested = Type.Object({
  pid: Type.Integer(),
  started_at_unix_ms: UnixMs,
  exe: text,
  uid: Type.Integer(),
  spawned_by: text,
})

/** Read out of the process (argv, environment) or said by its client; each value names its source. */
export const Corroborated = Type.Object({
  provider: text,
  provider_session_id: text,
  conversation: text,
  model: text,
  cwd: text,
  sources: Type.Record(Type.String(), Type.String(), {
    description: 'field → argv, environ, proc, record, client, meta',
  }),
})

/** Said by the session about itself, through status alone. */
export const Declared = Type.Object({ working_on: text, role: text, parent: text })

export const Card = Type.Object({ attested: Attested, corroborated: Corroborated, declared: Declared })
export type Card = Static<typeof Card>
export type Attested = Static<typeof Attested>
export type Corroborated = Static<typeof Corroborated>
export type Declared = Static<typeof Declared>

const fact = nullable(Type.String({ maxLength: LIMITS.fact }))

/** A status call replaces the whole declared group: what is left out is cleared. */
export const DeclaredInput = Type.Object(
  { working_on: Type.Optional(fact), role: Type.Optional(fact), parent: Type.Optional(nullable(SessionId)) },
  { additionalProperties: false },
)

export const SessionEntry = Type.Object({
  id: SessionId,
  address: Type.String(),
  card: Card,
  last_seen: Timestamp,
  last_seen_unix_ms: UnixMs,
  live: Type.Boolean({ description: 'that very process instance still exists' }),
})
export type SessionEntry = Static<typeof SessionEntry>
