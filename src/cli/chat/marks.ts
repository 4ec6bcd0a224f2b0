// mail4agent chat mark, typing, tag, data: what is shown of this machine's user in a Matrix room.
import { defineCommand } from '../command.ts'
import { usage } from '../usage.ts'
import { eventWord } from './text.ts'

export const chatMark = defineCommand({
  name: 'chat mark',
  summary: 'tell the others that a room was read',
  usage: '<room> [<event>]',
  help: `Sends a read receipt for a text, or for the newest one.

  mail4agent chat mark lukas`,
  options: {},
  words: [1, 2],
  async run(context) {
    const event = context.words[1]
    const request = { room: context.word(0, 'the room'), event: event === undefined ? null : eventWord(event) }
    const answer = await (await context.mailbox()).chat('mark', request)
    return context.show(answer, () => (answer.event === null ? 'nothing to read\n' : `read up to ${answer.event}\n`))
  },
})

export const chatTyping = defineCommand({
  name: 'chat typing',
  summary: 'show that somebody types',
  usage: '[options] <room>',
  help: `Shows the others that somebody types here, for half a minute, or with --off no more. Writing ends it.

  mail4agent chat typing lukas`,
  options: { off: { help: 'no more' } },
  words: [1, 1],
  async run(context) {
    const request = { room: context.word(0, 'the room'), on: !context.options.off }
    const answer = await (await context.mailbox()).chat('typing', request)
    return context.show(answer, () => `${request.on ? 'typing' : 'no more typing'} in ${answer.room}\n`)
  },
})

export const chatTag = defineCommand({
  name: 'chat tag',
  summary: 'the tags of a room',
  usage: '[options] <room> [<tag>]',
  help: `Shows the tags of a room, sets one, or removes it. The homeserver sees them.

  mail4agent chat tag build
  mail4agent chat tag build m.favourite --order 0.5
  mail4agent chat tag build m.favourite --off`,
  options: {
    order: { value: 'N', help: 'where it stands among those of the tag, 0 to 1' },
    off: { help: 'remove the tag' },
  },
  words: [1, 2],
  async run(context) {
    const { order, off } = context.options
    const tag = context.words[1]
    if (tag === undefined && (off || order !== undefined)) throw usage('the tag is missing')
    const place = order === undefined ? null : Number(order)
    if (place !== null && !(place >= 0 && place <= 1)) throw usage('--order is a number from 0 to 1')
    const request = { room: context.word(0, 'the room'), tag: tag ?? null, order: place, remove: off }
    const answer = await (await context.mailbox()).chat('tag', request)
    return context.show(answer, () =>
      context.table(
        ['tag', 'order'],
        answer.tags.map((one) => [one.tag, one.order === null ? '' : String(one.order)]),
      ),
    )
  },
})

export const chatData = defineCommand({
  name: 'chat data',
  summary: 'account data, of the user or of a room',
  usage: '[options] <type> [<json>]',
  help: `Shows what the homeserver keeps for this machine's user under a type, or sets it. The homeserver sees it. What belongs to the
encryption of the account cannot be set.

  mail4agent chat data m.direct
  mail4agent chat data com.example.note '{"text":"for all clients"}' --room build`,
  options: { room: { value: 'ROOM', help: 'of that room' } },
  words: [1, 2],
  async run(context) {
    const content = context.words[1] === undefined ? null : contentOf(context.words[1])
    const request = { type: context.word(0, 'the type'), room: context.options.room ?? null, content }
    const answer = await (await context.mailbox()).chat('data', request)
    return context.show(answer, () => (answer.content === null ? 'none\n' : `${JSON.stringify(answer.content)}\n`))
  },
})

function contentOf(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {}
  throw usage('the content is no JSON object', `for example '{"a":1}'`)
}
