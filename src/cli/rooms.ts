// mail4agent rooms: rooms as a member sees them; an operator makes them and says who is in them.
import type { RoomsAnswer } from '../wire/people.ts'
import { defineCommand } from './command.ts'
import type { Context } from './context.ts'

const bare = (word: string): string => (word.startsWith('#') ? word.slice(1) : word)

export const rooms = defineCommand({
  name: 'rooms',
  summary: 'list rooms, with the members of yours',
  usage: '',
  help: `Lists the rooms. Who is in a room its members see, and operators. Posting needs membership.

  mail4agent rooms
  mail4agent admin room add build       an operator makes one`,
  options: {},
  words: [0, 0],
  async run(context) {
    const answer = await (await context.mailbox()).call('rooms', {})
    return context.show(answer, () => roomsText(answer, context))
  },
})

export const roomShow = defineCommand({
  name: 'rooms show',
  summary: 'one room with its members',
  usage: '<room>',
  help: `Shows one room; its members where you are one of them.

  mail4agent rooms show build`,
  options: {},
  words: [1, 1],
  async run(context) {
    const answer = await (await context.mailbox()).call('rooms', { room: bare(context.word(0, 'the room')) })
    return context.show(answer, () =>
      answer.rooms
        .map(({ id, label, member, members }) =>
          context.facts([
            ['room', `#${id}`],
            ['label', label],
            ['you', member ? 'are a member' : 'are no member'],
            ['members', members?.join(', ') ?? 'only members see them'],
          ]),
        )
        .join('\n'),
    )
  },
})

export const roomsMembers = defineCommand({
  name: 'rooms members',
  summary: 'the members of a room of yours, one a line',
  usage: '<room>',
  help: `Prints the members of a room that you are a member of.

  mail4agent rooms members build`,
  options: {},
  words: [1, 1],
  async run(context) {
    const answer = await (await context.mailbox()).call('rooms', { room: bare(context.word(0, 'the room')) })
    const [room] = answer.rooms
    const code = context.show(answer, () => (room?.members ?? []).map((name) => `${name}\n`).join(''))
    if (room?.members !== undefined) return code
    if (!context.json) context.say('only members see who is in a room')
    return 1
  },
})

export const roomsJoin = defineCommand({
  name: 'rooms join',
  summary: 'become a member of a room; operators only',
  usage: '<room>',
  help: `Makes your own account a member, where it is an operator's. For another account: mail4agent admin room join.

  mail4agent rooms join build --as operator`,
  options: {},
  words: [1, 1],
  async run(context) {
    const answer = await (await context.mailbox()).call('join', { room: bare(context.word(0, 'the room')) })
    return context.show(answer, () => `joined #${answer.room}\n`)
  },
})

export const roomsLeave = defineCommand({
  name: 'rooms leave',
  summary: 'leave a room',
  usage: '<room>',
  help: `Takes your account out of a room. Its mail is out of sight from then on; if an operator lets you join again, it is back.

  mail4agent rooms leave build`,
  options: {},
  words: [1, 1],
  async run(context) {
    const answer = await (await context.mailbox()).call('leave', { room: bare(context.word(0, 'the room')) })
    return context.show(answer, () => `left #${answer.room}\n`)
  },
})

const roomsText = ({ rooms }: RoomsAnswer, context: Context): string =>
  context.table(
    ['room', 'you', 'members', 'label'],
    rooms.map(({ id, member, members, label }) => [
      `#${id}`,
      member ? 'member' : '',
      members?.join(' ') ?? '',
      label ?? '',
    ]),
  )
