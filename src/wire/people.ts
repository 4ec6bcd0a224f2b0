// Contacts, own aliases, rooms as their members see them, and figures of a mailbox: request and answer of each.
import { type Static, Type } from '@sinclair/typebox'
import { AddressInput } from './address.ts'
import { nullable } from './letter.ts'
import { LIMITS } from './limits.ts'
import { Name } from './names.ts'
import { Timestamp } from './time.ts'

const strict = { additionalProperties: false }
const opt = <T extends Parameters<typeof nullable>[0]>(schema: T) => Type.Optional(nullable(schema))
const now = { now: Timestamp }

export const ContactsRequest = Type.Object(
  {
    limit: opt(Type.Integer({ minimum: 1, maximum: LIMITS.pageMax })),
    after: opt(Type.String({ maxLength: LIMITS.name })),
  },
  strict,
)

/** What went between the caller's account and another one; absent times have not happened. */
const Traffic = {
  sent: Type.Integer({ description: 'letters to it' }),
  heard: Type.Integer({ description: 'letters from it; of a room: of others to it' }),
  last_written_at: nullable(Timestamp),
  last_heard_at: nullable(Timestamp),
}

export const Alias = Type.Object({ name: Name, address: Type.String({ description: 'compact address' }) })
export type Alias = Static<typeof Alias>

export const ContactsAnswer = Type.Object({
  accounts: Type.Array(
    Type.Object({
      id: Name,
      label: nullable(Type.String()),
      kind: Type.String(),
      private: Type.Optional(Type.Boolean({ description: 'not everybody sees this account' })),
      live_sessions: Type.Array(Type.String(), { description: 'compact addresses' }),
      last_seen: nullable(Timestamp),
      ...Traffic,
    }),
  ),
  rooms: Type.Array(Type.Object({ id: Name, label: nullable(Type.String()), member: Type.Boolean(), ...Traffic })),
  aliases: Type.Array(Alias),
  machines: Type.Array(Type.Object({ id: Name, last_seen: nullable(Timestamp) }), {
    description: 'other machines that are pinned',
  }),
  has_more: Type.Boolean(),
  after: nullable(Name),
  ...now,
})

export const AliasRequest = Type.Object(
  { name: Name, address: opt(AddressInput), remove: opt(Type.Boolean()) },
  { ...strict, description: 'an address under a name of your own; with remove it is forgotten' },
)
export const AliasAnswer = Type.Object({
  aliases: Type.Array(Alias),
  warning: Type.Optional(Type.String({ description: 'the address leads nowhere now' })),
  ...now,
})

export const RoomsRequest = Type.Object({ room: opt(Name) }, strict)
export const RoomsAnswer = Type.Object({
  rooms: Type.Array(
    Type.Object({
      id: Name,
      label: nullable(Type.String()),
      member: Type.Boolean(),
      members: Type.Optional(Type.Array(Name, { description: 'of your own rooms; operators see those of all' })),
      created_at: Timestamp,
    }),
  ),
  ...now,
})
export const RoomRequest = Type.Object({ room: Name }, strict)
export const RoomAnswer = Type.Object({ room: Name, member: Type.Boolean(), ...now })

export const StatsRequest = Type.Object(
  {
    days: opt(Type.Integer({ minimum: 1, maximum: 366, description: 'so many days back, today included; default 7' })),
    target: opt(AddressInput),
  },
  strict,
)
const flow = { sent: Type.Integer(), heard: Type.Integer() }
export const StatsAnswer = Type.Object({
  target: Type.String({ description: 'the account whose mailbox this is' }),
  states: Type.Object({ new: Type.Integer(), opened: Type.Integer(), closed: Type.Integer() }),
  at_least: Type.Optional(Type.Boolean({ description: 'a state has more than were counted' })),
  unread: Type.Integer(),
  oldest_unread_age_secs: nullable(Type.Integer()),
  since: Timestamp,
  peers: Type.Array(Type.Object({ id: Name, ...flow })),
  days: Type.Array(Type.Object({ day: Type.String({ description: 'UTC, YYYY-MM-DD' }), ...flow })),
  ...now,
})

export type ContactsRequest = Static<typeof ContactsRequest>
export type ContactsAnswer = Static<typeof ContactsAnswer>
export type AliasRequest = Static<typeof AliasRequest>
export type AliasAnswer = Static<typeof AliasAnswer>
export type RoomsRequest = Static<typeof RoomsRequest>
export type RoomsAnswer = Static<typeof RoomsAnswer>
export type RoomRequest = Static<typeof RoomRequest>
export type RoomAnswer = Static<typeof RoomAnswer>
export type StatsRequest = Static<typeof StatsRequest>
export type StatsAnswer = Static<typeof StatsAnswer>
