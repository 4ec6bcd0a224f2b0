// Waking: what a wake can come to, the policy that decides about it, and the requests and answers around both.
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { nullable } from './letter.ts'
import { MessageId, Name, SessionId } from './names.ts'
import { Timestamp } from './time.ts'

const strict = { additionalProperties: false }
const opt = <T extends TSchema>(schema: T) => Type.Optional(nullable(schema))

/**
 * What a wake came to. `started`: a turn was seen to begin; `queued`: accepted, the agent is busy or will see it with its next
 * turn; `held`: its user has to approve; `stored`: kept where the agent looks, no process took it; `refused`: the door said no;
 * `unknown`: the bytes left, and nothing tells what became of them; `no_door`: none could be tried.
 */
export const WAKE_OUTCOMES = ['started', 'queued', 'held', 'stored', 'refused', 'unknown', 'no_door'] as const
export type WakeOutcome = (typeof WAKE_OUTCOMES)[number]
const Outcome = Type.Union(WAKE_OUTCOMES.map((outcome) => Type.Literal(outcome)))

/** direct: mail to the account or the session. mention: also room mail that names it. all: also all other room mail. */
export const WAKE_MODES = ['off', 'direct', 'mention', 'all'] as const
export type WakeMode = (typeof WAKE_MODES)[number]
const Mode = Type.Union(WAKE_MODES.map((mode) => Type.Literal(mode)))

export const DoorName = Type.String({ pattern: '^[a-z][a-z0-9-]{0,39}$' })
/** An account, here or `@machine`. */
const Sender = Type.String({ pattern: '^[A-Za-z0-9._+-]{1,128}(@[A-Za-z0-9._+-]{1,128})?$', maxLength: 257 })
const senders = () => Type.Array(Sender, { maxItems: 200 })
const doors = () => Type.Array(DoorName, { maxItems: 50 })

/** As it is kept: what is absent is inherited, a session's from its account's, an account's from what is usual. */
export const StoredWakePolicy = Type.Object(
  {
    enabled: Type.Optional(Type.Boolean()),
    mode: Type.Optional(Mode),
    /** null: everybody. */
    allow: Type.Optional(nullable(senders())),
    block: Type.Optional(senders()),
    quiet: Type.Optional(Type.Boolean()),
    on: Type.Optional(doors()),
    off: Type.Optional(doors()),
  },
  strict,
)
export type StoredWakePolicy = Static<typeof StoredWakePolicy>

export const WakePolicy = Type.Object({
  enabled: Type.Boolean(),
  mode: Mode,
  allow: nullable(senders()),
  block: senders(),
  quiet: Type.Boolean({ description: 'an agent at work is left alone until it is idle' }),
  on: Type.Array(DoorName, { description: 'doors that have to be allowed, and are' }),
  off: Type.Array(DoorName, { description: 'doors that are not to be used' }),
  damaged: nullable(Type.String({ description: 'why the stored policy cannot be read; nothing is woken then' })),
})
export type WakePolicy = Static<typeof WakePolicy>

export const Tried = Type.Object({
  door: DoorName,
  session: nullable(SessionId),
  outcome: nullable(Outcome),
  detail: Type.String(),
  ms: Type.Integer(),
})

const whose = { account: Name, session: opt(Type.String({ pattern: '^s-[0-9a-f]{4,32}$' })) }

export const WakeStatusRequest = Type.Object(
  { account: opt(Name), session: whose.session, limit: opt(Type.Integer({ minimum: 1, maximum: 100 })) },
  strict,
)
/** Of a door that its owner gave an address and a key: never which. */
export const KeptKey = Type.Object({
  door: DoorName,
  source: Type.Union([Type.Literal('vault'), Type.Literal('file')]),
  state: Type.String({ description: 'ready, or why the door cannot be used' }),
  at: nullable(Timestamp),
})
export type KeptKey = Static<typeof KeptKey>

export const WakeStatus = Type.Object({
  account: Name,
  session: nullable(SessionId),
  policy: WakePolicy,
  policy_changed_at: nullable(Timestamp),
  state: nullable(Outcome),
  source: nullable(DoorName),
  at: nullable(Timestamp),
  due: Type.Integer({ description: 'letters that were to wake somebody and have not yet' }),
  keys: Type.Array(KeptKey, { description: 'where the keys of its doors lie; empty unless one account was asked for' }),
  wakes: Type.Array(
    Type.Object({
      message_id: nullable(MessageId),
      count: Type.Integer(),
      outcome: Outcome,
      door: nullable(DoorName),
      at: Timestamp,
      ms: Type.Integer(),
      tried: Type.Array(Tried),
    }),
  ),
})
export type WakeStatus = Static<typeof WakeStatus>

export const WakeSetRequest = Type.Object(
  {
    ...whose,
    enabled: opt(Type.Boolean()),
    mode: opt(Mode),
    quiet: opt(Type.Boolean()),
    allow: Type.Optional(senders()),
    allow_everybody: opt(Type.Boolean()),
    block: Type.Optional(senders()),
    unblock: Type.Optional(senders()),
    on: Type.Optional(doors()),
    off: Type.Optional(doors()),
    forget: opt(Type.Boolean({ description: 'as if nothing had ever been set' })),
  },
  strict,
)

export const WakePlanRequest = Type.Object({ account: opt(Name), session: whose.session }, strict)
export const PlannedDoor = Type.Object({
  door: DoorName,
  tier: Type.String(),
  account: Name,
  session: nullable(SessionId),
  ready: Type.Boolean(),
  busy: Type.Boolean(),
  opt_in: Type.Boolean(),
  why: nullable(Type.String({ description: 'why it is not ready' })),
})
export type PlannedDoor = Static<typeof PlannedDoor>

export const WakeTestRequest = Type.Object(whose, strict)
export const WakeTestAnswer = Type.Object({
  outcome: Outcome,
  door: nullable(DoorName),
  ms: Type.Integer(),
  tried: Type.Array(Tried),
})

/** A door of a running client that waits for mail to start a turn with. */
export const STANDING_DOORS = ['claude-rewake', 'claude-channel', 'opencode-plugin'] as const
export const StandByRequest = Type.Object(
  {
    door: Type.Union(STANDING_DOORS.map((door) => Type.Literal(door))),
    wait_secs: Type.Integer({ minimum: 0, maximum: 3600 }),
    busy: opt(Type.Boolean({ description: 'the agent is at work' })),
    last: opt(
      Type.Object(
        {
          message_id: MessageId,
          ok: Type.Boolean(),
          busy: opt(Type.Boolean()),
          detail: opt(Type.String({ maxLength: 200 })),
        },
        strict,
      ),
    ),
  },
  strict,
)
export type StandByRequest = Static<typeof StandByRequest>
export const StandByAnswer = Type.Object({
  wake: nullable(Type.Object({ message_id: MessageId, text: Type.String() })),
  taken: Type.Boolean({ description: 'another one stands by for this session already' }),
})
export type StandByAnswer = Static<typeof StandByAnswer>
