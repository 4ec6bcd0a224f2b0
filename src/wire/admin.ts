// The operator's registry: accounts, rooms, listeners, orphaned mail. Request and answer of every /admin route.
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Agent, AgentAdd, AgentSet } from './dispatch.ts'
import { Imported, nullable } from './letter.ts'
import { LIMITS } from './limits.ts'
import { LINK_ADMIN } from './link.ts'
import { MessageId, Name, SessionId } from './names.ts'
import { EntriesAnswer, MailboxRequest, OverviewAnswer, OverviewRequest, TrafficRequest } from './overview.ts'
import { Timestamp } from './time.ts'
import { ImportLetter, ImportResult } from './transfer.ts'
import {
  PlannedDoor,
  WakePlanRequest,
  WakeSetRequest,
  WakeStatus,
  WakeStatusRequest,
  WakeTestAnswer,
  WakeTestRequest,
} from './wake.ts'

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
  may_chat: flag(),
  operator: flag(),
}
const privacy = {
  private: flag(),
  visible_to: opt(Type.Array(Name, { maxItems: LIMITS.recipients, description: 'who sees it while it is private' })),
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
  may_chat: Type.Boolean({ description: 'may use the Matrix rooms of this machine' }),
  operator: Type.Boolean(),
  private: Type.Boolean({ description: 'seen by operators, room mates, whom it wrote to, and visible_to' }),
  visible_to: Type.Array(Name),
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

const days = nullable(Type.Integer({ description: 'days; null: for ever' }))

/** What went, or would go. Counts of an account are copies: its own share of each letter. */
export const Retention = Type.Object({
  removed: Type.Boolean({ description: 'false: nothing was changed' }),
  closed_days: days,
  events_days: days,
  messages: Type.Integer(),
  conversations: Type.Integer(),
  bytes: Type.Integer(),
  events: Type.Integer(),
  oldest_closed_at: nullable(Timestamp),
  newest_closed_at: nullable(Timestamp),
  accounts: Type.Array(
    Type.Object({
      account: nullable(Name),
      going: Type.Integer(),
      kept_not_closed: Type.Integer({ description: 'as old, but never acknowledged' }),
      kept_too_young: Type.Integer({ description: 'of conversations as old, in which something was closed later' }),
    }),
  ),
  now: Timestamp,
})

/** path below /admin/ → request and answer. */
export const ADMIN = {
  participant: {
    summary: 'create an account',
    request: Type.Object(
      { id: Name, label: opt(Label), kind, digest: opt(Digest), ...capabilities, ...privacy },
      strict,
    ),
    answer: secretOnce,
  },
  'participant/set': {
    summary: 'change the label, the capabilities or the privacy of an account',
    request: Type.Object({ id: Name, label: opt(Label), kind, ...capabilities, ...privacy }, strict),
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
  import: {
    summary: 'carry letters in from elsewhere; all that can be stored, in one transaction',
    request: Type.Object(
      {
        source: Imported.properties.source,
        letters: Type.Array(ImportLetter, { minItems: 1, maxItems: LIMITS.importBatch }),
        dry_run: flag(),
      },
      strict,
    ),
    answer: Type.Object({ results: Type.Array(ImportResult), now: Timestamp }),
  },
  retention: {
    summary: 'what has been closed for long enough to go, or removing it now',
    request: Type.Object({ run: opt(Type.Boolean({ description: 'remove it; else only say what would go' })) }, strict),
    answer: Retention,
  },
  agent: {
    summary: 'let an account be started on this machine: its profile',
    request: AgentAdd,
    answer: Agent,
  },
  'agent/set': {
    summary: 'change the profile of an agent; what is left out stays, null puts the default back',
    request: AgentSet,
    answer: Agent,
  },
  'agent/list': {
    summary: 'list agents with their profiles',
    request: Type.Object(listPage, strict),
    answer: Type.Object({
      agents: Type.Array(Agent),
      paused: nullable(Type.String()),
      has_more: Type.Boolean(),
      after: nullable(Name),
    }),
  },
  'agent/remove': {
    summary: 'remove the profile of an agent; its account stays, what is queued is given up',
    request: Type.Object({ id: Name }, strict),
    answer: empty,
  },
  'dispatch/pause': {
    summary: 'start nothing more, of one agent or of all',
    request: Type.Object({ id: opt(Name), reason: Type.String({ minLength: 1, maxLength: LIMITS.label }) }, strict),
    answer: empty,
  },
  'dispatch/resume': {
    summary: 'start agents again after a pause',
    request: Type.Object({ id: opt(Name) }, strict),
    answer: empty,
  },
  'wake/status': {
    summary: 'when mail wakes an account or a session, and what became of the last wakes',
    request: WakeStatusRequest,
    answer: Type.Object({ wakes: Type.Array(WakeStatus) }),
  },
  'wake/set': { summary: 'change when mail wakes it', request: WakeSetRequest, answer: WakeStatus },
  'wake/plan': {
    summary: 'the doors that a wake would try, in that order, each with whether it is ready',
    request: WakePlanRequest,
    answer: Type.Object({ doors: Type.Array(PlannedDoor) }),
  },
  'wake/test': { summary: 'wake it now with a text that is a test', request: WakeTestRequest, answer: WakeTestAnswer },
  backup: {
    summary: 'write a consistent copy of the store to a file of the data folder, and check it',
    request: Type.Object({ name: opt(Type.String({ pattern: '^[A-Za-z0-9._-]{1,100}$' })) }, strict),
    answer: Type.Object({
      path: Type.String(),
      bytes: Type.Integer(),
      messages: Type.Integer(),
      deliveries: Type.Integer(),
      accounts: Type.Integer(),
      epoch: Type.String({ description: 'of the store that it is a copy of' }),
    }),
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
  overview: {
    summary: 'how every account fares: who lives, what is unread, how its doorbell does',
    request: OverviewRequest,
    answer: OverviewAnswer,
  },
  mailbox: {
    summary: 'the letters of any account, newest first; changes no state',
    request: MailboxRequest,
    answer: EntriesAnswer,
  },
  traffic: {
    summary: 'everything that was sent, newest first, with what became of it',
    request: TrafficRequest,
    answer: EntriesAnswer,
  },
  ...LINK_ADMIN,
} as const satisfies Record<string, { summary: string; request: TSchema; answer: TSchema }>

export type AdminRoute = keyof typeof ADMIN
export type AdminRequest<R extends AdminRoute> = Static<(typeof ADMIN)[R]['request']>
export type AdminAnswer<R extends AdminRoute> = Static<(typeof ADMIN)[R]['answer']>
