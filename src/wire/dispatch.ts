// Dispatch on the wire: agent profiles, what was asked for and what became of it.
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { nullable } from './letter.ts'
import { LIMITS } from './limits.ts'
import { MessageId, Name } from './names.ts'
import { Timestamp } from './time.ts'

const strict = { additionalProperties: false }
const opt = <T extends TSchema>(schema: T) => Type.Optional(nullable(schema))
const seconds = (minimum: number) => opt(Type.Integer({ minimum, maximum: 604_800 }))
const path = Type.String({ minLength: 1, maxLength: 4_096 })
const names = opt(Type.Array(Name, { maxItems: LIMITS.recipients }))

export const PROVIDERS = ['claude', 'codex', 'opencode', 'gemini', 'qwen', 'command'] as const
const Provider = Type.Union(PROVIDERS.map((name) => Type.Literal(name)))
const Permission = Type.Union([Type.Literal('read'), Type.Literal('edit'), Type.Literal('full')])

/** What `agent add` and `agent set` may say; what is left out is the default, or stays. */
export const profileFields = {
  program: opt(path),
  args: opt(Type.Array(Type.String({ maxLength: 4_096 }), { maxItems: 100 })),
  model: opt(Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._:/@[\\]+-]{0,127}$' })),
  permission: opt(Permission),
  max_turns: opt(Type.Integer({ minimum: 1, maximum: 10_000 })),
  attempts: opt(Type.Integer({ minimum: 1, maximum: 10 })),
  startup_secs: seconds(1),
  stall_secs: seconds(1),
  attempt_secs: seconds(1),
  total_secs: seconds(1),
  per_day: opt(Type.Integer({ minimum: 0, maximum: 100_000 })),
  depth: opt(Type.Integer({ minimum: 1, maximum: 16 })),
  allow: names,
  block: names,
  env: opt(Type.Array(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$' }), { maxItems: 100 })),
}

export const AgentAdd = Type.Object({ id: Name, provider: Provider, cwd: path, ...profileFields }, strict)
export const AgentSet = Type.Object({ id: Name, provider: opt(Provider), cwd: opt(path), ...profileFields }, strict)
export type AgentAdd = Static<typeof AgentAdd>
export type AgentSet = Static<typeof AgentSet>

export const Agent = Type.Object({
  id: Name,
  provider: Type.String(),
  program: nullable(Type.String()),
  args: Type.Array(Type.String()),
  cwd: Type.String(),
  model: nullable(Type.String()),
  permission: Type.String(),
  max_turns: Type.Integer(),
  attempts: Type.Integer(),
  startup_secs: Type.Integer(),
  stall_secs: Type.Integer(),
  attempt_secs: Type.Integer(),
  total_secs: Type.Integer(),
  per_day: Type.Integer(),
  depth: Type.Integer(),
  allow: Type.Array(Name),
  block: Type.Array(Name),
  env: Type.Array(Type.String()),
  paused: nullable(Type.String({ description: 'why it is paused' })),
  queued: Type.Integer(),
  running: Type.Integer(),
  today: Type.Integer({ description: 'dispatches of the last 24 hours' }),
  created_at: Timestamp,
})
export type Agent = Static<typeof Agent>

export const Attempt = Type.Object({
  number: Type.Integer(),
  run: Type.String({ description: 'in the environment of all its processes as M4A_RUN' }),
  provider: Type.String(),
  mode: Type.String(),
  session: nullable(Type.String({ description: "the client's own session" })),
  pid: nullable(Type.Integer()),
  planned_at: Timestamp,
  spawned_at: nullable(Timestamp),
  healthy_at: nullable(Timestamp),
  ended_at: nullable(Timestamp),
  cause: nullable(Type.String()),
  detail: nullable(Type.String()),
  exit: nullable(Type.Integer()),
  signal: nullable(Type.String()),
  forced: Type.Boolean({ description: 'SIGTERM did not end it' }),
  leftover: Type.Integer({ description: 'processes that it left behind; they were ended' }),
  cost_usd: nullable(Type.Number()),
  turns: nullable(Type.Integer()),
  tokens: nullable(Type.Integer()),
  tail: nullable(Type.String({ description: 'end of its output, without secrets' })),
})
export type Attempt = Static<typeof Attempt>

export const DispatchId = Type.Integer({ minimum: 1, description: 'number of a dispatch' })

/** `state`: queued, running, done; `outcome` once it is done: replied, closed, ran, silent, failed, timed_out, stopped. */
export const Dispatch = Type.Object({
  id: DispatchId,
  agent: Name,
  by: Type.String({ description: 'who asked for it' }),
  message_id: nullable(MessageId),
  thread: nullable(MessageId),
  subject: nullable(Type.String()),
  state: Type.String(),
  position: Type.Optional(Type.Integer({ description: 'so many are before it' })),
  outcome: nullable(Type.String()),
  reason: nullable(Type.String()),
  fresh: Type.Boolean(),
  depth: Type.Integer(),
  attempts: Type.Integer(),
  activity: Type.Optional(
    Type.String({ description: 'of a running one: starting, working, in a tool, stalled, between attempts' }),
  ),
  created_at: Timestamp,
  started_at: nullable(Timestamp),
  ended_at: nullable(Timestamp),
  age_secs: Type.Integer(),
  reply: nullable(MessageId),
  bounce: nullable(MessageId),
})
export type Dispatch = Static<typeof Dispatch>

/** What a send with `dispatch` answers of it. */
export const Dispatched = Type.Object({
  id: Type.Optional(DispatchId),
  agent: Name,
  state: Type.String({ description: 'queued, running, done; ping: answered by the mailbox itself, nobody is started' }),
  position: Type.Optional(Type.Integer()),
  depth: Type.Optional(Type.Integer()),
})
export type Dispatched = Static<typeof Dispatched>

const now = { now: Timestamp }

export const DispatchWakeRequest = Type.Object({ target: Name, fresh: opt(Type.Boolean()) }, strict)
export const DispatchStatusRequest = Type.Object(
  {
    failed: opt(Type.Boolean({ description: 'only those that came to nothing' })),
    limit: opt(Type.Integer({ minimum: 1, maximum: LIMITS.pageMax })),
    before: opt(DispatchId),
  },
  strict,
)
export const DispatchShowRequest = Type.Object({ id: DispatchId }, strict)
export const DispatchLogsRequest = Type.Object(
  {
    id: DispatchId,
    attempt: opt(Type.Integer({ minimum: 1 })),
    stream: opt(Type.Union([Type.Literal('out'), Type.Literal('err')])),
    offset: opt(Type.Integer({ minimum: 0, description: 'bytes; the answer has that of its end' })),
    limit: opt(Type.Integer({ minimum: 1, maximum: 262_144, description: 'bytes' })),
  },
  strict,
)
export const DispatchStopRequest = Type.Object(
  { id: DispatchId, reason: opt(Type.String({ maxLength: LIMITS.label })) },
  strict,
)
export type DispatchWakeRequest = Static<typeof DispatchWakeRequest>
export type DispatchStatusRequest = Static<typeof DispatchStatusRequest>
export type DispatchShowRequest = Static<typeof DispatchShowRequest>
export type DispatchLogsRequest = Static<typeof DispatchLogsRequest>
export type DispatchStopRequest = Static<typeof DispatchStopRequest>

export const DispatchWakeAnswer = Type.Object({ dispatch: Dispatched, ...now })
export const DispatchStatusAnswer = Type.Object({
  paused: nullable(Type.String({ description: 'why nothing is started' })),
  agents: Type.Array(
    Type.Object({
      id: Name,
      provider: Type.String(),
      paused: nullable(Type.String()),
      queued: Type.Integer(),
      running: Type.Integer(),
    }),
  ),
  dispatches: Type.Array(Dispatch),
  has_more: Type.Boolean(),
  ...now,
})
export const DispatchShowAnswer = Type.Object({ dispatch: Dispatch, attempts: Type.Array(Attempt), ...now })
export const DispatchLogsAnswer = Type.Object({
  id: DispatchId,
  attempt: Type.Integer(),
  stream: Type.String(),
  text: Type.String(),
  offset: Type.Integer(),
  has_more: Type.Boolean(),
  running: Type.Boolean(),
  ...now,
})
export const DispatchStopAnswer = Type.Object({ dispatch: Dispatch, ...now })
export type DispatchWakeAnswer = Static<typeof DispatchWakeAnswer>
export type DispatchStatusAnswer = Static<typeof DispatchStatusAnswer>
export type DispatchShowAnswer = Static<typeof DispatchShowAnswer>
export type DispatchLogsAnswer = Static<typeof DispatchLogsAnswer>
export type DispatchStopAnswer = Static<typeof DispatchStopAnswer>
