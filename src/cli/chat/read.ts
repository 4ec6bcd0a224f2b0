// mail4agent chat list, read, thread, mentions, receipts, search, retry: what is in the Matrix rooms of this machine.
import { defineCommand } from '../command.ts'
import { clock } from '../times.ts'
import { usage } from '../usage.ts'
import { eventWord, LIMIT, limitOf, roomTable, textsText } from './text.ts'

export const chatList = defineCommand({
  name: 'chat list',
  summary: 'the Matrix rooms of this machine, and invitations',
  usage: '',
  help: `Lists the rooms at the homeserver that this machine's user is in, and those it is invited to. What kind a room is comes from
its state: dm (for two), room, channel (anybody may join, few may write), space (holds rooms), machine (carries the mail of a
pinned machine). Persons and operators may use the rooms, and accounts that were granted it.

  mail4agent chat list
  mail4agent admin account set codex --can chat      lets an agent use them`,
  options: {},
  words: [0, 0],
  async run(context) {
    const answer = await (await context.mailbox()).chat('list', {})
    return context.show(answer, () => roomTable(context, answer.rooms))
  },
})

export const chatRead = defineCommand({
  name: 'chat read',
  summary: 'what was said in a room',
  usage: '[options] <room>',
  help: `Shows the newest texts of a room, oldest first, with edits and reactions folded in. A room is named by its id, its alias, its
name, or by whom it is for: a pinned peer, or @user:server. Who wrote is proved by a pinned key; what nobody has pinned is not
read. The last line says how to page back.

  mail4agent chat read lukas
  mail4agent chat read '!abc:example.org' -n 50
  mail4agent chat read build --before t12-345_0`,
  options: { ...LIMIT, before: { value: 'TOKEN', help: 'those before, from the last line of an earlier page' } },
  words: [1, 1],
  async run(context) {
    const { options } = context
    const room = context.word(0, 'the room')
    const request = { room, limit: limitOf(options.limit), before: options.before ?? null }
    const answer = await (await context.mailbox()).chat('read', request)
    const code = context.show(answer, () => textsText(context, answer.messages))
    if (answer.before !== null && !context.json) context.say(`page back with --before ${answer.before}`)
    return code
  },
})

export const chatThread = defineCommand({
  name: 'chat thread',
  summary: 'a text and the thread that hangs on it',
  usage: '[options] <room> <event>',
  help: `Shows a text and what was written in its thread. Event ids begin with $, which may be left away.

  mail4agent chat thread build Rq0s1hG…`,
  options: LIMIT,
  words: [2, 2],
  async run(context) {
    const request = {
      room: context.word(0, 'the room'),
      event: eventWord(context.word(1, 'the event')),
      limit: limitOf(context.options.limit),
    }
    const answer = await (await context.mailbox()).chat('thread', request)
    return context.show(answer, () => textsText(context, answer.messages))
  },
})

export const chatMentions = defineCommand({
  name: 'chat mentions',
  summary: 'texts that name you, in all rooms',
  usage: '[options]',
  help: `Shows the recent texts that name this machine's user, or your account as @name or "name:", newest first.

  mail4agent chat mentions -n 5`,
  options: LIMIT,
  words: [0, 0],
  async run(context) {
    const answer = await (await context.mailbox()).chat('mentions', { limit: limitOf(context.options.limit) })
    return context.show(answer, () => textsText(context, answer.mentions))
  },
})

export const chatReceipts = defineCommand({
  name: 'chat receipts',
  summary: 'who has read up to where in a room, and who types',
  usage: '<room>',
  help: `Shows up to which text each member has read, and who is typing. This is the homeserver's word, not proved.

  mail4agent chat receipts lukas`,
  options: {},
  words: [1, 1],
  async run(context) {
    const answer = await (await context.mailbox()).chat('receipts', { room: context.word(0, 'the room') })
    return context.show(answer, () => {
      const rows = answer.read.map(({ user, event, at }) => [user, event, at === null ? '' : clock(at)])
      const typing = answer.typing.length === 0 ? '' : context.facts([['typing', answer.typing.join(' ')]])
      return context.table(['user', 'has read up to', 'at'], rows) + typing
    })
  },
})

export const chatSearch = defineCommand({
  name: 'chat search',
  summary: 'public rooms or users of the homeserver',
  usage: '[options] <rooms | users> [<words>…]',
  help: `Searches the public rooms of the homeserver, or the users that it shows. Names there prove nothing: pin a user by the key.

  mail4agent chat search rooms build
  mail4agent chat search users lukas`,
  options: LIMIT,
  words: [1, 20],
  async run(context) {
    const [what, ...words] = context.words
    const limit = limitOf(context.options.limit)
    const query = words.join(' ')
    if (what !== 'rooms' && what !== 'users')
      throw usage('search what?', 'say rooms or users: mail4agent chat search users lukas')
    if (what === 'users' && query === '') throw usage('the words are missing')
    const client = await context.mailbox()
    if (what === 'rooms') {
      const answer = await client.chat('find_rooms', { query: query || null, limit })
      return context.show(answer, () =>
        context.table(
          ['room', 'name', 'alias', 'members', 'topic'],
          answer.rooms.map(({ room, name, alias, members, topic }) => [
            room,
            name ?? '',
            alias ?? '',
            String(members),
            topic ?? '',
          ]),
        ),
      )
    }
    const answer = await client.chat('find_users', { query, limit })
    return context.show(answer, () =>
      context.table(
        ['user', 'name', 'pinned as'],
        answer.users.map(({ user, name, peer }) => [user, name ?? '', peer ?? '']),
      ),
    )
  },
})

export const chatRetry = defineCommand({
  name: 'chat retry',
  summary: 'try once more to decrypt what could not be read',
  usage: '[<room>]',
  help: `Tries once more to decrypt texts and mail that came before their key. What opens becomes mail as it would have.

  mail4agent chat retry
  mail4agent chat retry lukas`,
  options: {},
  words: [0, 1],
  async run(context) {
    const answer = await (await context.mailbox()).chat('retry', { room: context.words[0] ?? null })
    return context.show(answer, () =>
      context.facts([
        ['opened', String(answer.opened)],
        ['still closed', String(answer.left)],
      ]),
    )
  },
})
