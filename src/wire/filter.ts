// Which letters: what follow waits for, what close_all closes, what a search is narrowed to.
import { type Static, Type } from '@sinclair/typebox'
import { AddressInput } from './address.ts'
import { BatchResult } from './answers.ts'
import { Message, nullable } from './letter.ts'
import { LIMITS } from './limits.ts'
import { Cursor, MessageId } from './names.ts'
import { Timestamp } from './time.ts'

const strict = { additionalProperties: false }
const opt = <T extends Parameters<typeof nullable>[0]>(schema: T) => Type.Optional(nullable(schema))

/** No request has a field `from`: who says a sender is refused by the name of that field, whatever for. */
export const WrittenBy = Type.Union([AddressInput], { description: 'an account, or one of its sessions' })

/** Without a filter, a cursor says that the mail before it was shown to the reader. */
export const FollowRequest = Type.Object(
  {
    written_by: opt(WrittenBy),
    thread: opt(MessageId),
    reply_to: opt(MessageId),
    cursor: opt(Cursor),
    wait_secs: opt(Type.Integer({ minimum: 0, maximum: 65_535, description: 'clamped to the cap of the door' })),
    limit: opt(Type.Integer({ minimum: 1, maximum: LIMITS.pageMax })),
    max_bytes: opt(Type.Integer({ minimum: LIMITS.budgetMin, maximum: LIMITS.budgetMax })),
  },
  strict,
)
export const FollowAnswer = Type.Object({
  messages: Type.Array(Message),
  unread: Type.Integer(),
  waited_secs: Type.Optional(Type.Number()),
  has_more: Type.Boolean(),
  cursor: Type.Union([Cursor], { description: 'where the next call goes on, also where nothing came' }),
  now: Timestamp,
})

export const CloseAllRequest = Type.Object(
  {
    listed: opt(
      Type.Union([Type.Literal('session'), Type.Literal('account')], {
        description: 'only what this session, or any session of the account, was listed',
      }),
    ),
    written_by: opt(WrittenBy),
    subject: opt(Type.String({ minLength: 1, maxLength: LIMITS.subject, description: 'part of it, without case' })),
    thread: opt(MessageId),
    state: opt(Type.Union([Type.Literal('new'), Type.Literal('opened')])),
    older_than_secs: opt(Type.Integer({ minimum: 0 })),
    up_to: opt(Cursor),
    dry_run: opt(Type.Boolean({ description: 'say what would be closed' })),
    cursor: opt(Cursor),
  },
  strict,
)
export const CloseAllAnswer = Type.Object({
  closed: Type.Integer(),
  results: Type.Array(BatchResult),
  messages: Type.Optional(Type.Array(Message, { description: 'with dry_run: what would be closed, without bodies' })),
  unlisted: Type.Integer({ description: 'matched, but was not listed, so it stays' }),
  up_to: Type.Union([Cursor], { description: 'what came after it stays; give it back with cursor to go on' }),
  has_more: Type.Boolean(),
  cursor: nullable(Cursor),
  unread: Type.Integer(),
  now: Timestamp,
})

export type FollowRequest = Static<typeof FollowRequest>
export type FollowAnswer = Static<typeof FollowAnswer>
export type CloseAllRequest = Static<typeof CloseAllRequest>
export type CloseAllAnswer = Static<typeof CloseAllAnswer>
