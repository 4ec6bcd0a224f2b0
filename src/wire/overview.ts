// What an operator sees of the whole mailbox: accounts and how they fare, any account's letters, everything that was sent.
import { type Static, Type } from '@sinclair/typebox'
import { nullable, State } from './letter.ts'
import { LIMITS } from './limits.ts'
import { Cursor, MessageId, Name } from './names.ts'
import { Timestamp } from './time.ts'

const strict = { additionalProperties: false }
const opt = <T extends Parameters<typeof nullable>[0]>(schema: T) => Type.Optional(nullable(schema))
const limit = opt(Type.Integer({ minimum: 1, maximum: LIMITS.pageMax }))
const page = { limit, cursor: opt(Cursor) }
const paged = { has_more: Type.Boolean(), cursor: nullable(Cursor), now: Timestamp }

/** A part of the mailbox that may be switched off: what wakes agents, what starts them, what leads to other machines. */
export const Part = Type.Object({
  state: Type.Union([Type.Literal('off'), Type.Literal('on'), Type.Literal('trouble')]),
  note: nullable(Type.String({ description: 'what a person should know of it' })),
})
export type Part = Static<typeof Part>

/** How one account fares. */
export const AccountState = Type.Object({
  id: Name,
  label: nullable(Type.String()),
  kind: Type.String(),
  live_sessions: Type.Integer(),
  last_seen: nullable(Timestamp),
  unread: Type.Integer({ description: 'letters to the account and its rooms that are not closed' }),
  oldest_unread_age_secs: nullable(Type.Integer()),
  session_unread: Type.Integer({ description: 'letters to its live sessions that are not closed' }),
  waiting: Type.Integer({ description: 'readers parked on its mailbox right now' }),
  doorbell: nullable(
    Type.Object({
      pending: Type.Integer(),
      last_ok: nullable(Timestamp),
      last_error: nullable(Type.String()),
      last_error_at: nullable(Timestamp),
    }),
  ),
})
export type AccountState = Static<typeof AccountState>

/** A letter in an operator's list: its beginning, and what became of it. */
export const Entry = Type.Object({
  message_id: MessageId,
  thread: MessageId,
  from_text: Type.String(),
  imported: Type.Optional(Type.Literal(true, { description: 'carried in; its sender was not proved here' })),
  to: Type.Array(Type.String(), { description: 'compact addresses, at most five' }),
  more_to: Type.Optional(Type.Integer({ description: 'so many more recipients' })),
  subject: Type.String(),
  preview: Type.String({ description: 'the beginning of the body' }),
  state: Type.Optional(State),
  states: Type.Optional(
    Type.Object(
      { new: Type.Integer(), opened: Type.Integer(), closed: Type.Integer() },
      { description: 'how many of its deliveries are in which state' },
    ),
  ),
  created_at: Timestamp,
  age_secs: Type.Integer(),
})
export type Entry = Static<typeof Entry>

export const OverviewRequest = Type.Object({ limit, after: opt(Type.String({ maxLength: LIMITS.name })) }, strict)
export const OverviewAnswer = Type.Object({
  accounts: Type.Array(AccountState),
  has_more: Type.Boolean(),
  after: nullable(Name),
  rooms: Type.Integer(),
  orphaned_sessions: Type.Integer({ description: 'sessions that ended while mail to them was open' }),
  parts: Type.Object({ wake: Part, dispatch: Part, link: Part }),
  now: Timestamp,
})
export const MailboxRequest = Type.Object(
  { account: Name, state: opt(Type.Union([Type.Literal('open'), Type.Literal('closed')])), ...page },
  strict,
)
export const TrafficRequest = Type.Object({ from: opt(Name), ...page }, strict)
export const EntriesAnswer = Type.Object({ letters: Type.Array(Entry), ...paged })

export type OverviewAnswer = Static<typeof OverviewAnswer>
export type EntriesAnswer = Static<typeof EntriesAnswer>
