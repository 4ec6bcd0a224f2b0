// mail4agent chat send, reply, edit, react, redact, forward: writing into a Matrix room.
import { readBody } from '../body.ts'
import { defineCommand } from '../command.ts'
import type { Context } from '../context.ts'
import { usage } from '../usage.ts'
import { eventWord, sentText } from './text.ts'

const KIND = { value: 'KIND', help: 'text, notice or emote (default text)' } as const
const KEY = { value: 'KEY', help: 'idempotency key: the same again writes nothing new' } as const
const kindOf = (word: string | undefined) => {
  const kind = (['text', 'notice', 'emote'] as const).find((one) => one === (word ?? 'text'))
  if (kind === undefined) throw usage('no such --kind', 'there are text, notice and emote')
  return kind
}

export const chatSend = defineCommand({
  name: 'chat send',
  summary: 'write into a room',
  usage: '[options] <room> <text | ->',
  help: `Writes into a Matrix room, encrypted for the members that are pinned, and for nobody else; the answer says who can read it.
Agents of a machine share its user there, so your account stands in front of the text. Users that the text names are
mentioned. Nothing is written where no encryption was seen. With a pinned person whom no room is shared with, one is made.

  mail4agent chat send lukas "the build is green"
  mail4agent chat send build --thread Rq0s1hG… "as discussed"
  git log -3 | mail4agent chat send build -`,
  options: {
    'reply-to': { value: 'EVENT', help: 'as an answer to that text' },
    edit: { value: 'EVENT', help: 'instead of that text of your own; not together with --reply-to' },
    thread: { value: 'EVENT', help: 'in the thread of that text' },
    kind: KIND,
    key: KEY,
  },
  words: [2, 2],
  async run(context) {
    const { 'reply-to': reply, edit, thread, kind, key } = context.options
    if (edit !== undefined && (reply !== undefined || thread !== undefined))
      throw usage('an edit hangs where its text hangs', 'leave --reply-to and --thread away, or --edit')
    const request = {
      room: context.word(0, 'the room'),
      text: await readBody(context.word(1, 'the text'), undefined, context.io),
      kind: kindOf(kind),
      reply_to: reply === undefined ? null : eventWord(reply),
      edit: edit === undefined ? null : eventWord(edit),
      thread: thread === undefined ? null : eventWord(thread),
      idempotency_key: key ?? null,
    }
    const answer = await (await context.mailbox()).chat('send', request)
    return context.show(answer, () => sentText(context, answer))
  },
})

const AT = { kind: KIND, key: KEY } as const

/** A text that answers, or replaces, another. */
async function writeAt(context: Context<typeof AT>, command: 'reply' | 'edit'): Promise<number> {
  const { kind, key } = context.options
  const answer = await (await context.mailbox()).chat(command, {
    room: context.word(0, 'the room'),
    event: eventWord(context.word(1, 'the event')),
    text: await readBody(context.word(2, 'the text'), undefined, context.io),
    kind: kindOf(kind),
    idempotency_key: key ?? null,
  })
  return context.show(answer, () => sentText(context, answer))
}

export const chatReply = defineCommand({
  name: 'chat reply',
  summary: 'answer a text',
  usage: '[options] <room> <event> <text | ->',
  help: `Answers a text; who wrote it is mentioned. Event ids begin with $, which may be left away.

  mail4agent chat reply lukas Rq0s1hG… "on it"`,
  options: AT,
  words: [3, 3],
  run: (context) => writeAt(context, 'reply'),
})

export const chatEdit = defineCommand({
  name: 'chat edit',
  summary: 'replace a text of your own',
  usage: '[options] <room> <event> <text | ->',
  help: `Replaces a text that your own account wrote. What another account, machine or person wrote is refused.

  mail4agent chat edit lukas Rq0s1hG… "the build is red"`,
  options: AT,
  words: [3, 3],
  run: (context) => writeAt(context, 'edit'),
})

export const chatReact = defineCommand({
  name: 'chat react',
  summary: 'put a reaction on a text',
  usage: '<room> <event> <reaction>',
  help: `Puts a reaction on a text. The homeserver sees the reaction itself: that is how Matrix counts them.

  mail4agent chat react lukas Rq0s1hG… 👍`,
  options: {},
  words: [3, 3],
  async run(context) {
    const answer = await (await context.mailbox()).chat('react', {
      room: context.word(0, 'the room'),
      event: eventWord(context.word(1, 'the event')),
      key: context.word(2, 'the reaction'),
    })
    return context.show(answer, () => sentText(context, answer))
  },
})

export const chatRedact = defineCommand({
  name: 'chat redact',
  summary: 'take back a text or a reaction of your own',
  usage: '<room> <event>',
  help: `Takes back a text or a reaction that your own account wrote; an operator takes back any that the homeserver lets this
machine take back. Without a reason: that would be seen by the homeserver.

  mail4agent chat redact lukas Rq0s1hG…`,
  options: {},
  words: [2, 2],
  async run(context) {
    const answer = await (await context.mailbox()).chat('redact', {
      room: context.word(0, 'the room'),
      event: eventWord(context.word(1, 'the event')),
    })
    return context.show(answer, () => `taken back: ${answer.event}\n`)
  },
})

export const chatForward = defineCommand({
  name: 'chat forward',
  summary: 'write a text into another room',
  usage: '<room> <event> <to-room>',
  help: `Writes a text that can be read here into another room, with the name of who wrote it, and without the room it came from.

  mail4agent chat forward lukas Rq0s1hG… build`,
  options: {},
  words: [3, 3],
  async run(context) {
    const answer = await (await context.mailbox()).chat('forward', {
      room: context.word(0, 'the room'),
      event: eventWord(context.word(1, 'the event')),
      to: context.word(2, 'the other room'),
    })
    return context.show(answer, () => sentText(context, answer))
  },
})
