// What GET /events tells: what happens to mail and to dispatches, one object an event. Ids only.
import { type Static, Type } from '@sinclair/typebox'
import { DispatchId } from './dispatch.ts'
import { nullable } from './letter.ts'
import { MessageId, Name } from './names.ts'
import { Timestamp } from './time.ts'

const oneOf = <Kind extends string>(...kinds: Kind[]) => Type.Union(kinds.map((kind) => Type.Literal(kind)))

export const MailEvent = Type.Object({
  kind: oneOf('sent', 'opened', 'closed', 'reopened', 'released'),
  message_id: MessageId,
  at: Timestamp,
})
export type MailEvent = Static<typeof MailEvent>

/** `dispatch_started` and `dispatch_attempt_ended` come for each attempt, one of the last two once. */
export const DispatchEvent = Type.Object({
  kind: oneOf('dispatch_queued', 'dispatch_started', 'dispatch_attempt_ended', 'dispatch_done', 'dispatch_failed'),
  dispatch: DispatchId,
  agent: Name,
  message_id: nullable(MessageId),
  attempt: Type.Optional(Type.Integer({ minimum: 1 })),
  cause: Type.Optional(Type.String({ description: 'what the attempt ended with' })),
  outcome: Type.Optional(Type.String()),
  at: Timestamp,
})
export type DispatchEvent = Static<typeof DispatchEvent>
