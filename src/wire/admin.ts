// The operator's registry: accounts, rooms, listeners, orphaned mail. Request and answer of every /admin route.
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { nullable } from './letter.ts'
import { LIMITS } from './limits.ts'
import { LINK_ADMIN } from './link.ts'
import { MessageId, Name, SessionId } from './names.ts'
import { Timestamp } from './time.ts'

const strict = { additionalProperties: false }
const opt = <T extends TSchema>(schema: T) => Type.Optional(nullable(schema))
const Label = Type.String({ maxLength: LIMITS.label })
const flag = () => opt(Type.Boolean())

/** SHA-256 of a secret, 64 lower-case hex: any system may issue the secret, the mailbox only verifies it. */
export const Digest = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the bearer secret, hex' })

const capabilities = {
  may_send: flag(),
  may_read: flag(),
  may_dispatch: flag(),
  may_behalf: flag(),
  operator: flag(),
}
const kind = opt(Type.Union([Type.Literal('agent'), Type.Literal('person')]))
const listPage = {
  limit: opt(Type.Integer({ minimum: 1, maximum: LIMITS.pageMax })),
  after: opt(Type.String({ maxLength: LIMITS.name })),
}

export const Account = Type.Object({
  id: Name,
  label: nullable(Type.String()),
  kind: Type.String(),
  may_send: Type.Boolean(),
  may_read: Type.Boolean(),
  may_dispatch: Type.Boolean(),
  may_behalf: Type.Boolean(),
  operator: Type.Boolean(),
  rooms: Type.Array(Name),
  listener: nullable(Type.String()),
  created_at: Timestamp,
})
export type Account = Static<typeof Account>

const secretOnce = Type.Object({
  id: Name,
  secret: Type.Optional(Type.String({ description: 'shown once; absent when a digest was given' })),
})
const empty = Type.Object({})

/** path below /admin/ → request and answer. */
export const ADMIN = {
  participant: {
    summary: 'create an account',
    request: Type.Object({ id: Name, label: opt(Label), kind, digest: opt(Digest), ...capabilities }, strict),
    answer: secretOnce,
  },
  'participant/set': {
    summary: 'change the label or the capabilities of an account',
    request: Type.Object({ id: Name, label: opt(Label), kind, ...capabilities }, strict),
    answer: Account,
  },
  'participant/list': {
    summary: 'list accounts',
    request: Type.Object(listPage, strict),
    answer: Type.Object({ accounts: Type.Array(Account), has_more: Type.Boolean(), after: nullable(Name) }),
  },
  'participant/rotate': {
    summary: 'replace the secret of an account; the old one ends at once',
    request: Type.Object({ id: Name, digest: opt(Digest) }, strict),
    answer: secretOnce,
  },
  'participant/remove': {
    summary: 'remove an account; its mail stays, its name starts anew',
    request: Type.Object({ id: Name }, strict),
    answer: empty,
  },
  room: { summary: 'create a room', request: Type.Object({ id: Name, label: opt(Label) }, strict), answer: empty },
  'room/list': {
    summary: 'list rooms with their members',
    request: Type.Object(listPage, strict),
    answer: Type.Object({
      rooms: Type.Array(
        Type.Object({ id: Name, label: nullable(Type.String()), members: Type.Array(Name), created_at: Timestamp }),
      ),
      has_more: Type.Boolean(),
      after: nullable(Name),
    }),
  },
  'room/remove': { summary: 'remove a room', request: Type.Object({ id: Name }, strict), answer: empty },
  'room/member/add': {
    summary: 'add a member',
    request: Type.Object({ room: Name, participant: Name }, strict),
    answer: empty,
  },
  'room/member/remove': {
    summary: 'remove a member',
    request: Type.Object({ room: Name, participant: Name }, strict),
    answer: empty,
  },
  listener: {
    summary: 'set the doorbell of an account; its signing key is shown once',
    request: Type.Object({ account: Name, url: Type.String({ maxLength: LIMITS.url }), coalesce: flag() }, strict),
    answer: Type.Object({ key: Type.String({ description: 'HMAC-SHA-256 key, shown once' }) }),
  },
  'listener/list': {
    summary: 'list doorbells and how they fare',
    request: Type.Object({}, strict),
    answer: Type.Object({
      listeners: Type.Array(
        Type.Object({
          account: Name,
          url: Type.String(),
          coalesce: Type.Boolean(),
          pending: Type.Integer(),
          last_ok: nullable(Timestamp),
          last_error: nullable(Type.String()),
          last_error_at: nullable(Timestamp),
        }),
      ),
    }),
  },
  'listener/remove': {
    summary: 'clear the doorbell of an account',
    request: Type.Object({ account: Name }, strict),
    answer: empty,
  },
  'orphan/list': {
    summary: 'mail of sessions that ended without a successor',
    request: Type.Object({ account: opt(Name) }, strict),
    answer: Type.Object({
      orphans: Type.Array(Type.Object({ account: Name, session: SessionId, count: Type.Integer(), oldest: MessageId })),
    }),
  },
  'orphan/release': {
    summary: 'give the mail of an ended session to its account',
    request: Type.Object({ account: Name, session: SessionId }, strict),
    answer: Type.Object({ released: Type.Integer() }),
  },
  backup: {
    summary: 'write a consistent copy of the store to a file of the data folder',
    request: Type.Object({ name: opt(Type.String({ pattern: '^[A-Za-z0-9._-]{1,100}$' })) }, strict),
    answer: Type.Object({ path: Type.String(), bytes: Type.Integer() }),
  },
  check: {
    summary: 'look through the whole store: schema, integrity, letters dated in the future',
    request: Type.Object({}, strict),
    answer: Type.Object({
      schema: Type.Integer(),
      known: Type.Integer({ description: 'the newest schema that this mailbox knows' }),
      integrity: Type.String({ description: 'ok, or the first thing that was found' }),
      bytes: Type.Integer(),
      letters: Type.Integer(),
      future: nullable(Type.Object({ count: Type.Integer(), latest: Timestamp })),
    }),
  },
  ...LINK_ADMIN,
} as const satisfies Record<string, { summary: string; request: TSchema; answer: TSchema }>

export type AdminRoute = keyof typeof ADMIN
export type AdminRequest<R extends AdminRoute> = Static<(typeof ADMIN)[R]['request']>
export type AdminAnswer<R extends AdminRoute> = Static<(typeof ADMIN)[R]['answer']>
