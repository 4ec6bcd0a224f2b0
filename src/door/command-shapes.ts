// Answers of chat commands as the lines of prior clients have them: their names for rooms, texts and events beside ours.
import type { ChatAnswer, ChatCommand, ChatRoom, ChatText } from '../wire/chat.ts'

/** What a room is called where it has no name: who else is in it. */
const titleOf = ({ name, alias, members, invited, room }: ChatRoom): string =>
  name ?? alias ?? ([...members, ...invited].join(', ') || room)

/** `from` is who wrote, as far as it is proved; `from_id` the Matrix user; `ts` ms since the epoch. */
const textRow = (row: ChatText) => ({
  ...row,
  event_id: row.event,
  from: row.account ?? row.peer ?? row.from.slice(1).replace(/:.*/, ''),
  from_id: row.from,
  ts: Date.parse(row.at),
  kind: row.kind === 'unreadable' ? 'undecryptable' : row.kind,
  state: row.kind === 'unreadable' ? `undecryptable:${row.reason}` : 'sent',
})

const withRoom = (row: ChatText & { room: string }) => ({ ...textRow(row), room: row.room })
const withEvent = <A extends { event: string }>(answer: A) => ({ ...answer, event_id: answer.event })

type Shapes = { [C in ChatCommand]?: (answer: ChatAnswer<C>) => object }

const SHAPES: Shapes = {
  list: ({ rooms }) => ({ rooms: rooms.map((room) => ({ ...room, title: titleOf(room) })) }),
  read: ({ room, messages, before }) => ({
    ...room,
    title: titleOf(room),
    messages: messages.map(textRow),
    before,
  }),
  mentions: ({ mentions }) => ({ messages: mentions.map(withRoom) }),
  thread: ({ room, messages }) => ({ room, messages: messages.map(textRow) }),
  send: withEvent,
  reply: withEvent,
  edit: withEvent,
  react: withEvent,
  forward: withEvent,
  redact: withEvent,
}

/** The `data` of a line that ran `command`. */
export function shaped<C extends ChatCommand>(command: C, answer: ChatAnswer<C>): object {
  const shape: ((answer: ChatAnswer<C>) => object) | undefined = SHAPES[command]
  return shape ? shape(answer) : answer
}

/** Prior clients call a plain room a group. */
export function understood(command: ChatCommand, args: object): object {
  return command === 'create' && 'kind' in args && args.kind === 'group' ? { ...args, kind: 'room' } : args
}
