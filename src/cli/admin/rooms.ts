// mail4agent admin room: named groups of accounts.
import type { AdminAnswer } from '../../wire/admin.ts'
import { LIMITS } from '../../wire/limits.ts'
import { defineCommand } from '../command.ts'

type Rooms = AdminAnswer<'room/list'>

/** `#build` and `build` mean the room, `@claude` and `claude` the account. */
const bare = (word: string): string => (word.startsWith('#') || word.startsWith('@') ? word.slice(1) : word)

export const roomList = defineCommand({
  name: 'admin room list',
  summary: 'list rooms with their members',
  usage: '',
  help: `Lists all rooms with their members.

  mail4agent admin room list`,
  options: {},
  words: [0, 0],
  async run(context) {
    const client = await context.operator()
    const rooms: Rooms['rooms'] = []
    let after: string | null = null
    do {
      const page: Rooms = await client.admin('room/list', { limit: LIMITS.pageMax, after })
      rooms.push(...page.rooms)
      after = page.has_more ? page.after : null
    } while (after !== null)
    return context.show({ rooms, has_more: false, after: null }, () =>
      context.table(
        ['room', 'members', 'label'],
        rooms.map((room) => [`#${room.id}`, room.members.join(' '), room.label ?? '']),
      ),
    )
  },
})

export const roomAdd = defineCommand({
  name: 'admin room add',
  summary: 'make a room',
  usage: '[options] <room> [<account>…]',
  help: `Makes a room, and lets accounts join it. Every session of a member gets its mail.

  mail4agent admin room add build
  mail4agent admin room add build claude codex`,
  options: { label: { short: 'l', value: 'TEXT', help: 'a name for people' } },
  words: [1, 100],
  async run(context) {
    const { label } = context.options
    const room = bare(context.word(0, 'the room'))
    const client = await context.operator()
    const answer = await client.admin('room', { id: room, label: label ?? null })
    const members = context.words.slice(1).map(bare)
    for (const participant of members) await client.admin('room/member/add', { room, participant })
    return context.show(answer, () => `made #${room}${members.length === 0 ? '' : ` with ${members.join(', ')}`}\n`)
  },
})

export const roomRemove = defineCommand({
  name: 'admin room remove',
  summary: 'remove a room',
  usage: '<room>',
  help: `Removes a room. Nobody is a member any more, so nobody sees its mail.

  mail4agent admin room remove build`,
  options: {},
  words: [1, 1],
  async run(context) {
    const room = bare(context.word(0, 'the room'))
    const client = await context.operator()
    const answer = await client.admin('room/remove', { id: room })
    return context.show(answer, () => `removed #${room}\n`)
  },
})

export const roomJoin = defineCommand({
  name: 'admin room join',
  summary: 'make accounts members of a room',
  usage: '<room> <account>…',
  help: `Makes accounts members of a room: they get its mail from now on, and may post.

  mail4agent admin room join build claude codex`,
  options: {},
  words: [2, 100],
  async run(context) {
    const room = bare(context.word(0, 'the room'))
    const members = context.words.slice(1).map(bare)
    const client = await context.operator()
    for (const participant of members) await client.admin('room/member/add', { room, participant })
    return context.show({}, () => `${members.join(', ')} joined #${room}\n`)
  },
})

export const roomLeave = defineCommand({
  name: 'admin room leave',
  summary: 'take accounts out of a room',
  usage: '<room> <account>…',
  help: `Takes accounts out of a room. They no longer see its mail; if they join again, they do.

  mail4agent admin room leave build codex`,
  options: {},
  words: [2, 100],
  async run(context) {
    const room = bare(context.word(0, 'the room'))
    const members = context.words.slice(1).map(bare)
    const client = await context.operator()
    for (const participant of members) await client.admin('room/member/remove', { room, participant })
    return context.show({}, () => `${members.join(', ')} left #${room}\n`)
  },
})
