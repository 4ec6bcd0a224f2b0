// mail4agent chat create, join, leave, invite, kick, bind: who is in a Matrix room, and which room here is one with it.
import { defineCommand } from '../command.ts'
import { usage } from '../usage.ts'

export const chatCreate = defineCommand({
  name: 'chat create',
  summary: 'make an encrypted room',
  usage: '[options] [<name>]',
  help: `Makes a Matrix room that is encrypted from its beginning. The homeserver sees its name and topic. With --with a room for two;
with --channel one that anybody may join and few may write into; with --space one that only holds rooms.

  mail4agent chat create build --invite lukas --invite @anna:example.org
  mail4agent chat create --with lukas`,
  options: {
    invite: { value: 'USER', multiple: true, help: 'a pinned peer or @user:server' },
    with: { value: 'USER', help: 'a room for two, without a name' },
    topic: { value: 'TEXT', help: 'what it is about' },
    channel: { help: 'anybody may join, few may write' },
    space: { help: 'a space' },
  },
  words: [0, 1],
  async run(context) {
    const { invite, with: other, topic, channel, space } = context.options
    const name = context.words[0]
    const chosen = [other !== undefined && 'dm', channel && 'channel', space && 'space'].filter((one) => one !== false)
    if (chosen.length > 1) throw usage('a room is of one kind', 'choose one of --with, --channel and --space')
    if (other === undefined && name === undefined)
      throw usage('the name is missing', 'or say for whom it is: --with USER')
    if (other !== undefined && (name !== undefined || invite.length > 0))
      throw usage('a room for two has no name and no further members')
    const answer = await (await context.mailbox()).chat('create', {
      name: name ?? null,
      topic: topic ?? null,
      kind: other !== undefined ? 'dm' : channel ? 'channel' : space ? 'space' : 'room',
      invite: other === undefined ? invite.flatMap((text) => text.split(',')) : [other],
    })
    return context.show(answer, () => `${answer.room}\n`)
  },
})

export const chatJoin = defineCommand({
  name: 'chat join',
  summary: 'accept an invitation, or join a public room',
  usage: '<room>',
  help: `Joins a room that this machine was invited to, or a public one. Invitations of pinned persons are accepted by themselves; all
others wait for this.

  mail4agent chat list                        shows the invitations
  mail4agent chat join '!abc:example.org'
  mail4agent chat join '#build:example.org'`,
  options: {},
  words: [1, 1],
  async run(context) {
    const answer = await (await context.mailbox()).chat('join', { room: context.word(0, 'the room') })
    return context.show(answer, () => `joined ${answer.room}\n`)
  },
})

export const chatLeave = defineCommand({
  name: 'chat leave',
  summary: 'leave a room, or decline an invitation',
  usage: '<room>',
  help: `Leaves a Matrix room, or declines an invitation. A room that is bound to it here is bound no more.

  mail4agent chat leave build`,
  options: {},
  words: [1, 1],
  async run(context) {
    const answer = await (await context.mailbox()).chat('leave', { room: context.word(0, 'the room') })
    return context.show(answer, () => `left ${answer.room}\n`)
  },
})

export const chatInvite = defineCommand({
  name: 'chat invite',
  summary: 'invite a user into a room',
  usage: '<room> <user>',
  help: `Invites a pinned peer or a Matrix user. Who is not pinned can be a member, but gets no key to what is written here.

  mail4agent chat invite build @anna:example.org`,
  options: {},
  words: [2, 2],
  async run(context) {
    const [room, user] = [context.word(0, 'the room'), context.word(1, 'the user')]
    const answer = await (await context.mailbox()).chat('invite', { room, user })
    return context.show(answer, () => `invited ${user} into ${answer.room}\n`)
  },
})

export const chatKick = defineCommand({
  name: 'chat kick',
  summary: 'put a user out of a room',
  usage: '<room> <user>',
  help: `Puts a user out of a room, where the homeserver lets this machine do so. The next text has a new key.

  mail4agent chat kick build @anna:example.org`,
  options: {},
  words: [2, 2],
  async run(context) {
    const [room, user] = [context.word(0, 'the room'), context.word(1, 'the user')]
    const answer = await (await context.mailbox()).chat('kick', { room, user })
    return context.show(answer, () => `put ${user} out of ${answer.room}\n`)
  },
})

export const chatBind = defineCommand({
  name: 'chat bind',
  summary: 'make a room here one with a Matrix room',
  usage: '[options] <room> [<#local>]',
  help: `Makes a room of this mailbox one with a Matrix room; an operator does this. What members post here is written there, with
their account in front, encrypted for the pinned members; what pinned members write there is a post here, answers hang on
what they answer. What came from elsewhere goes on to nobody, so nothing runs in a circle.

  mail4agent chat create build --invite lukas
  mail4agent chat bind build '#build'
  mail4agent chat bind build --off`,
  options: { off: { help: 'bound no more; mail that came stays' } },
  words: [1, 2],
  async run(context) {
    const local = context.words[1]
    if (context.options.off === (local !== undefined)) throw usage('name the room here, or say --off')
    const client = await context.operator()
    const answer = await client.admin('link/bind', {
      room: context.word(0, 'the room'),
      local: local?.replace(/^#/, '') ?? null,
    })
    return context.show(answer, () =>
      answer.local === null ? `${answer.room} is bound no more\n` : `#${answer.local} is one with ${answer.room}\n`,
    )
  },
})
