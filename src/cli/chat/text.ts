// Matrix rooms and what is said in them as people read them; and the words of the command line that name events.
import type { ChatAnswer, ChatRoom, ChatText } from '../../wire/chat.ts'
import type { Context } from '../context.ts'
import { quoteBody } from '../escape.ts'
import { clock } from '../times.ts'
import { wholeNumber } from '../usage.ts'

/** Event ids begin with a sign that shells take for their own: it may be left away. */
export const eventWord = (word: string): string => (word.startsWith('$') ? word : `$${word}`)

export const LIMIT = { limit: { short: 'n', value: 'N', help: 'at most so many (default 20)' } } as const
export const limitOf = (text: string | undefined): number | null =>
  text === undefined ? null : wholeNumber('--limit', text, 1, 200)

export const roomTable = (context: Context, rooms: readonly ChatRoom[]): string =>
  context.table(
    ['room', 'kind', 'name', 'members', 'here', 'notes'],
    rooms.map((room) => [
      room.room,
      room.kind,
      room.name ?? room.alias ?? '',
      [...room.members, ...room.invited.map((user) => `(${user})`)].join(' '),
      room.bound === null ? '' : `#${room.bound}`,
      notesOf(room),
    ]),
  )

function notesOf({ membership, invited_by, encrypted, kind }: ChatRoom): string {
  if (membership === 'invite') return `invited by ${invited_by}: mail4agent chat join`
  return encrypted || kind === 'space' ? '' : 'not encrypted: nothing is written there'
}

/** Facts first, the text behind bars, so that it cannot look like the next one. */
export function textsText(context: Context, messages: readonly (ChatText & { room?: string })[]): string {
  return messages.map((message) => textText(context, message)).join('\n')
}

function textText(context: Context, message: ChatText & { room?: string }): string {
  const who = message.account ?? message.peer
  const head = context.facts([
    ['event', message.event],
    ['room', message.room],
    ['from', who === null ? message.from : `${who} (${message.from})`],
    ['proved', message.proved ? null : 'by nobody'],
    ['date', clock(message.at)],
    ['kind', message.kind === 'text' ? null : message.kind],
    ['answers', message.reply_to],
    ['thread', message.thread],
    ['notes', [message.edited ? 'edited' : '', message.mentioned ? 'names you' : ''].filter(Boolean).join(', ')],
    ['reason', message.reason],
    ['reactions', message.reactions.map(({ key, by }) => `${key} ${by.join(' ')}`).join(', ')],
  ])
  const body = message.body === null ? '' : `${quoteBody(message.body).join('\n')}\n`
  return head + body
}

export const sentText = (context: Context, answer: ChatAnswer<'send'>): string =>
  context.facts([
    ['event', answer.event],
    ['room', answer.room],
    ['readers', answer.readers.join(' ')],
    ['not for', answer.withheld.length === 0 ? null : `${answer.withheld.join(' ')}: nobody has pinned them`],
  ])
