// The lines of the command socket: what is asked, one JSON object a line, and what each is answered.
import { type Static, Type } from '@sinclair/typebox'
import { LIMITS } from './limits.ts'
import { RefusalBody } from './refusal-body.ts'

const strict = { additionalProperties: false }
/** Which of its sessions the caller means: an account, or account/s-session. */
const As = Type.String({ minLength: 1, maxLength: 2 * LIMITS.name })

/** Mail to an address of this mailbox or another machine. */
export const SendLine = Type.Object(
  {
    as: As,
    to: Type.String({ minLength: 1, maxLength: 2 * LIMITS.name + 80 }),
    text: Type.String({ minLength: 1, maxLength: LIMITS.body }),
  },
  strict,
)
/** A chat command: `rooms.list`, `rooms.read`, … `mentions`, `threads.read`. */
export const CommandLine = Type.Object(
  {
    cmd: Type.String({ maxLength: 64 }),
    as: As,
    args: Type.Optional(Type.Union([Type.Object({}, { additionalProperties: true }), Type.Null()])),
  },
  strict,
)

/** `room`: the address that it went to; `event_id`: the id of the message. */
export const SendLineAnswer = Type.Object({
  ok: Type.Literal(true),
  room: Type.String(),
  event_id: Type.String(),
  warning: Type.Optional(Type.String()),
})
export const CommandLineAnswer = Type.Object({
  ok: Type.Literal(true),
  data: Type.Object({}, { additionalProperties: true }),
})
export const LineRefusal = Type.Object({
  ok: Type.Literal(false),
  error: Type.String({ description: 'kind: message' }),
  refusal: RefusalBody,
})
export type LineAnswer = Static<typeof SendLineAnswer> | { ok: true; data: object } | Static<typeof LineRefusal>
