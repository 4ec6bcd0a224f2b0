// The link to other machines, as its operator asks for it: requests and answers of the /admin/link routes.
import { type TSchema, Type } from '@sinclair/typebox'
import { nullable } from './letter.ts'
import { LIMITS } from './limits.ts'
import { Name } from './names.ts'
import { Timestamp } from './time.ts'

const strict = { additionalProperties: false }
const opt = <T extends TSchema>(schema: T) => Type.Optional(nullable(schema))
const Text = Type.String({ minLength: 1, maxLength: LIMITS.locator })
const Secret = Type.String({ minLength: 1, maxLength: 4_096 })
const Fingerprint = Type.String({ maxLength: 100, description: 'ed25519 key, unpadded base64; spaces do not count' })
const Allowed = Type.Array(Type.String({ maxLength: LIMITS.name }), { maxItems: 1_000 })

const allow = {
  accounts: opt(Allowed),
  rooms: opt(Allowed),
  share: opt(Allowed),
  wake: opt(Type.Boolean()),
  dispatch: opt(Type.Boolean()),
}

export const Peer = Type.Object({
  name: Name,
  user: Type.String(),
  by: Type.Union([Type.Literal('device'), Type.Literal('master')]),
  fingerprint: Type.String(),
  person: Type.Boolean({ description: 'somebody with a Matrix client' }),
  accounts: Type.Array(Type.String()),
  rooms: Type.Array(Type.String()),
  shared: Type.Array(Type.String(), { description: 'rooms whose posts go there too' }),
  wake: Type.Boolean(),
  dispatch: Type.Boolean(),
  state: Type.Union([Type.Literal('ready'), Type.Literal('waiting'), Type.Literal('alarm')]),
  reason: nullable(Type.String()),
  queued: Type.Integer(),
  under_way: Type.Integer({ description: 'sent, and not yet known to have arrived' }),
})
export type PeerEntry = (typeof Peer)['static']

export const Verify = Type.Object({
  flow: Type.String({ description: 'names the comparison' }),
  user: Type.String(),
  name: nullable(Type.String({ description: 'the peer that it is about' })),
  device: nullable(Type.String()),
  stage: Type.Union([
    Type.Literal('asked'),
    Type.Literal('asks'),
    Type.Literal('exchanging'),
    Type.Literal('compare'),
    Type.Literal('confirmed'),
    Type.Literal('done'),
    Type.Literal('cancelled'),
  ]),
  emoji: Type.Array(Type.Object({ symbol: Type.String(), description: Type.String() })),
  decimals: Type.Array(Type.Integer()),
  reason: nullable(Type.String({ description: 'why it was cancelled' })),
})
export type VerifyEntry = (typeof Verify)['static']

const Identity = {
  homeserver: Type.String(),
  user: Type.String(),
  device: Type.String(),
  fingerprint: Type.String({ description: 'what the other side pins, in groups of four' }),
  token: Type.String({ description: 'the same in one line, with the user' }),
  account_key: nullable(Type.String({ description: 'the cross-signing key of the user, for --master; null: none' })),
}
const empty = Type.Object({})

export const LINK_ADMIN = {
  'link/setup': {
    summary: 'log this machine in at a homeserver, as a device of its own',
    request: Type.Object(
      {
        homeserver: Text,
        way: Type.Union([
          Type.Literal('password'),
          Type.Literal('access_token'),
          Type.Literal('login_token'),
          Type.Literal('registration_token'),
        ]),
        user: opt(Text),
        secret: Secret,
        holder: opt(Type.Union([Type.Literal('file'), Type.Literal('keychain'), Type.Literal('env')])),
        variable: opt(Type.String({ maxLength: 128 })),
      },
      strict,
    ),
    answer: Type.Object(Identity),
  },
  'link/status': {
    summary: 'how the link fares',
    request: Type.Object({}, strict),
    answer: Type.Object({
      state: Type.Union([Type.Literal('off'), Type.Literal('on'), Type.Literal('down')]),
      reason: nullable(Type.String()),
      identity: nullable(Type.Object(Identity)),
      last_sync: nullable(Timestamp),
      peers: Type.Array(Peer),
      undecryptable: Type.Array(
        Type.Object({ event: Type.String(), sender: Type.String(), reason: Type.String(), at: Timestamp }),
      ),
      quarantined: Type.Array(
        Type.Object({
          event: Type.String(),
          peer: Type.String(),
          sender: Type.String(),
          device: nullable(Type.String()),
          fingerprint: nullable(Type.String()),
          why: Type.String(),
          at: Timestamp,
        }),
      ),
    }),
  },
  'link/off': { summary: 'log out, and forget device and keys', request: Type.Object({}, strict), answer: empty },
  'link/peer/add': {
    summary: 'pin another machine by the key that a person compared',
    request: Type.Object(
      {
        name: Name,
        user: Text,
        fingerprint: Fingerprint,
        master: opt(Type.Boolean()),
        person: opt(Type.Boolean()),
        ...allow,
      },
      strict,
    ),
    answer: Peer,
  },
  'link/peer/allow': {
    summary: 'what a peer may reach here; what is left out stays as it is',
    request: Type.Object({ name: Name, ...allow }, strict),
    answer: Peer,
  },
  'link/peer/rotate': {
    summary: 'pin another key for a known machine',
    request: Type.Object({ name: Name, fingerprint: Fingerprint, master: opt(Type.Boolean()) }, strict),
    answer: Peer,
  },
  'link/peer/remove': {
    summary: 'trust a machine no more; what waits for it is dropped',
    request: Type.Object({ name: Name }, strict),
    answer: empty,
  },
  'link/bind': {
    summary: 'make a room of this mailbox one with a Matrix room; without local: no more',
    request: Type.Object({ room: Text, local: opt(Name) }, strict),
    answer: Type.Object({ room: Type.String(), local: nullable(Type.String()) }),
  },
  'link/verify/start': {
    summary:
      'compare keys with the device of a peer, or of a user who is pinned under that name when both sides saw the same',
    request: Type.Object(
      {
        name: Name,
        user: opt(Text),
        master: opt(Type.Boolean()),
        person: opt(Type.Boolean()),
        ...allow,
      },
      strict,
    ),
    answer: Verify,
  },
  'link/verify/list': {
    summary: 'the comparisons of devices that are under way, and those that others ask for',
    request: Type.Object({}, strict),
    answer: Type.Object({ verifications: Type.Array(Verify) }),
  },
  'link/verify/answer': {
    summary: 'whether both sides saw the same; where they did not, mail to that peer stops',
    request: Type.Object({ flow: Text, same: Type.Boolean() }, strict),
    answer: Verify,
  },
  'link/peer/pending': {
    summary: 'keys that peers have and nobody has pinned, and invitations that wait',
    request: Type.Object({}, strict),
    answer: Type.Object({
      devices: Type.Array(
        Type.Object({
          user: Type.String(),
          device: Type.String(),
          fingerprint: Type.String(),
          label: nullable(Type.String()),
        }),
      ),
      invites: Type.Array(Type.Object({ room: Type.String(), sender: Type.String(), at: Timestamp })),
    }),
  },
} as const satisfies Record<string, { summary: string; request: TSchema; answer: TSchema }>
