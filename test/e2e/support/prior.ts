// The wire of the prior daemon, as its clients know it: what each of its answers has to hold at least.
import { type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

const more = { additionalProperties: true }
const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
const text = nullable(Type.String())
const count = Type.Integer({ minimum: 0 })
const time = Type.Integer({ minimum: 1 })

const Selector = Type.String({ pattern: '^[A-Za-z0-9._@+-]{1,128}$' })
const MessageId = Type.String({ pattern: '^m4a_[0-9a-f]{24}$' })
const SessionId = Type.String({ pattern: '^s-[0-9a-f]{8,64}$' })
const Direct = Type.Object({ kind: Type.Literal('direct'), participant: Selector }, more)
const Session = Type.Object({ kind: Type.Literal('session'), participant: Selector, session: SessionId }, more)
const Room = Type.Object({ kind: Type.Literal('room'), room: Selector }, more)
const Address = Type.Union([Direct, Session, Room])
const Reference = Type.Object(
  { kind: Selector, locator: Type.String(), digest: Type.Optional(nullable(Type.String())) },
  more,
)

const Message = Type.Object(
  {
    message_id: MessageId,
    from: Type.Union([Direct, Session]),
    to: Address,
    subject: Type.String(),
    body: Type.String(),
    reply_to: nullable(MessageId),
    correlation: text,
    refs: Type.Array(Reference),
    created_at_unix_ms: time,
  },
  more,
)
const Card = Type.Object(
  {
    attested: Type.Object({ pid: Type.Integer({ minimum: 1 }), started_at_unix_ms: time, exe: text }, more),
    corroborated: Type.Object({ provider_session_id: text, model: text, cwd: text }, more),
    declared: Type.Object({ working_on: text, role: text, parent: nullable(SessionId) }, more),
  },
  more,
)
const SessionEntry = Type.Object({ id: SessionId, card: Card, last_seen_unix_ms: time, live: Type.Boolean() }, more)
const Ack = Type.Object({ message_id: MessageId, reader: Session, acked_at_unix_ms: time }, more)
const empty = Type.Object({}, more)
const Secret = Type.Object({ id: Selector, secret: Type.String({ minLength: 1 }) }, more)

/** Route → the answer's shape. */
export const PRIOR_ANSWERS = {
  '/mail/send': Type.Object({ message_id: MessageId, from: Session }, more),
  '/mail/inbox': Type.Object({ messages: Type.Array(Message), unread: count }, more),
  '/mail/ack': Type.Object({ ack: Ack }, more),
  '/mail/get': Message,
  '/mail/unread': Type.Object({ target: Type.Union([Direct, Session]), unread: count }, more),
  '/mail/whoami': Type.Object(
    { address: Session, label: text, rooms: Type.Array(Selector), card: nullable(Card) },
    more,
  ),
  '/mail/status': Type.Object({ card: Card }, more),
  '/mail/directory': Type.Object(
    {
      participants: Type.Array(Type.Object({ id: Selector, label: text, sessions: Type.Array(SessionEntry) }, more)),
      rooms: Type.Array(Type.Object({ id: Selector, member: Type.Boolean() }, more)),
    },
    more,
  ),
  '/admin/participant': Secret,
  '/admin/participant/rotate': Secret,
  '/admin/participant/remove': empty,
  '/admin/room': empty,
  '/admin/room/member/add': empty,
  '/admin/room/member/remove': empty,
  '/admin/listener': empty,
  '/admin/listener/remove': empty,
  '/health': Type.Object(
    {
      ok: Type.Literal(true),
      service: Type.Literal('mail4agent'),
      version: Type.String(),
      started_at: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$' }),
      uptime_secs: count,
      dependencies: Type.Array(Type.Unknown()),
      background_tasks: Type.Array(Type.Unknown()),
    },
    more,
  ),
  /** Over MCP the prior ack answered the bare acknowledgement. */
  m4a_mail_ack: Ack,
} as const satisfies Record<string, TSchema>

export type PriorRoute = keyof typeof PRIOR_ANSWERS

/** The first thing that an answer lacks, or null. */
export function priorFault(route: PriorRoute, answer: unknown): string | null {
  const [fault] = [...Value.Errors(PRIOR_ANSWERS[route], answer)]
  return fault ? `${route}${fault.path}: ${fault.message}, not ${JSON.stringify(fault.value)}` : null
}

/** What a doorbell of the prior daemon held: these four and nothing else. */
export const PRIOR_DOORBELL = ['account', 'from', 'message_id', 'to'] as const
export const PRIOR_TOOLS = ['send', 'inbox', 'ack', 'get', 'whoami', 'status', 'peers'] as const
