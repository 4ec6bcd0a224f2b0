// mail4agent link peer: the other machines that this one trusts, and what each may reach here.
import { readToken } from '../../link/peers.ts'
import type { AdminAnswer } from '../../wire/admin.ts'
import { defineCommand } from '../command.ts'
import type { Context } from '../context.ts'
import { clock } from '../times.ts'
import { usage } from '../usage.ts'
import { peerTable } from './link.ts'

type Entry = AdminAnswer<'link/peer/add'>

export const ALLOW = {
  account: { value: 'NAME', multiple: true, help: 'an account here that it may write to; * for all' },
  room: { value: 'NAME', multiple: true, help: 'a room here that it may post to' },
  share: { value: 'NAME', multiple: true, help: 'a room here that is one with the room of that name there' },
  wake: { help: 'its mail may wake agents here' },
  'no-wake': { help: 'its mail wakes nobody here' },
} as const

type Allow = {
  account: string[]
  room: string[]
  share: string[]
  wake: boolean
  'no-wake': boolean
}

export const allowed = (options: Allow) => ({
  accounts: listOf(options.account, '@'),
  rooms: listOf(options.room, '#'),
  share: listOf(options.share, '#'),
  wake: options.wake ? true : options['no-wake'] ? false : null,
})

/** Several options or one with commas; `none` empties the list; nothing said leaves it as it is. */
function listOf(given: readonly string[], sign: string): string[] | null {
  const names = given.flatMap((text) => text.split(',')).map((name) => name.trim().replace(new RegExp(`^${sign}`), ''))
  if (names.length === 0) return null
  return names.filter((name) => name !== '' && name !== 'none')
}

export const show = (context: Context, answer: Entry): number =>
  context.show(answer, () =>
    context.facts([
      ['peer', answer.name],
      ['user', answer.user],
      [answer.by === 'master' ? 'account key' : 'device key', answer.fingerprint],
      ['state', answer.state],
      ['reason', answer.reason],
      ['may write to', answer.accounts.join(' ') || 'nobody; allow it: mail4agent link peer allow'],
      ['may post to', answer.rooms.map((room) => `#${room}`).join(' ') || null],
      ['one with', answer.shared.map((room) => `#${room}@${answer.name}`).join(' ') || null],
      ['may wake', answer.wake ? 'yes' : 'no'],
    ]),
  )

export const peerAdd = defineCommand({
  name: 'link peer add',
  summary: 'pin another machine',
  usage: '[options] <name> <token> | <name> <user> <fingerprint>',
  help: `Pins another machine under a name of your choice; it is @name behind addresses. Both sides have to pin each other. Compare
the fingerprint with what \`mail4agent link status\` shows over there, on the phone or side by side, or carry the one line
over a way that you trust. Until you allow it something, a peer reaches nobody here.

  mail4agent link peer add desk m4a1:WyJAZGVzazpleGFtcGxlLm9yZyIsIn… --account codex
  mail4agent link peer add desk @desk:example.org "a1B2 c3D4 …" --account '*' --room build
  mail4agent link peer add lukas @lukas:example.org "…" --master --person --account '*'

--master pins the cross-signing key of the account, and with it every device that the account vouches for. A --person writes
to agents in an ordinary encrypted chat with this machine's user, "@codex …", and reads their answers there; agents write to
lukas@lukas.`,
  options: {
    ...ALLOW,
    master: { help: 'the fingerprint is the cross-signing key of the account' },
    person: { help: 'somebody with a Matrix client, who writes texts to agents by @name' },
  },
  words: [2, 3],
  async run(context) {
    const { options, words } = context
    const name = context.word(0, 'the name').replace(/^@/, '')
    const second = context.word(1, 'the pairing line')
    const fingerprint = words[2]
    if (fingerprint === undefined && !second.startsWith('m4a1:')) throw usage('the fingerprint is missing')
    const pin = fingerprint === undefined ? readToken(second) : { user: second, key: fingerprint }
    const client = await context.operator()
    const answer = await client.admin('link/peer/add', {
      name,
      user: pin.user,
      fingerprint: pin.key,
      master: options.master,
      person: options.person,
      ...allowed(options),
    })
    return show(context, answer)
  },
})

export const peerAllow = defineCommand({
  name: 'link peer allow',
  summary: 'what a peer may reach here',
  usage: '[options] <name>',
  help: `Changes what a peer may reach here. A list that is given replaces the one before; \`none\` empties it. What is not named
stays as it is.

  mail4agent link peer allow desk --account codex --account claude
  mail4agent link peer allow desk --share build      #build is one room on both machines, if the other side does the same
  mail4agent link peer allow desk --account none --no-wake`,
  options: ALLOW,
  words: [1, 1],
  async run(context) {
    const client = await context.operator()
    const name = context.word(0, 'the peer').replace(/^@/, '')
    return show(context, await client.admin('link/peer/allow', { name, ...allowed(context.options) }))
  },
})

export const peerList = defineCommand({
  name: 'link peer list',
  summary: 'list the pinned machines',
  usage: '',
  help: `Lists the machines that are pinned, how each stands and what waits for it.

  mail4agent link peer list`,
  options: {},
  words: [0, 0],
  async run(context) {
    const { peers } = await (await context.operator()).admin('link/status', {})
    return context.show({ peers }, () => peerTable(context, peers))
  },
})

export const peerPending = defineCommand({
  name: 'link peer pending',
  summary: 'keys and invitations that nobody has accepted',
  usage: '',
  help: `Lists the keys that the accounts of peers have and nobody has pinned, and the invitations of others. A key that you do
not know may be a new machine, or somebody who got into the account: it gets nothing, and its mail is kept apart.

  mail4agent link peer pending`,
  options: {},
  words: [0, 0],
  async run(context) {
    const answer = await (await context.operator()).admin('link/peer/pending', {})
    return context.show(answer, () =>
      [
        context.table(
          ['user', 'device', 'fingerprint', 'label'],
          answer.devices.map(({ user, device, fingerprint, label }) => [user, device, fingerprint, label ?? '']),
        ),
        ...(answer.invites.length === 0
          ? []
          : [
              context.table(
                ['invited by', 'room', 'at'],
                answer.invites.map(({ sender, room, at }) => [sender, room, clock(at)]),
              ),
            ]),
      ].join('\n'),
    )
  },
})

export const peerRotate = defineCommand({
  name: 'link peer rotate',
  summary: 'pin another key for a known machine',
  usage: '[options] <name> <token | fingerprint>',
  help: `Pins the new key of a machine that was set up again. The old key counts no more.

  mail4agent link peer rotate desk m4a1:WyJAZGVzazpleGFtcGxlLm9yZyIsIn…`,
  options: { master: { help: 'the fingerprint is the cross-signing key of the account' } },
  words: [2, 2],
  async run(context) {
    const name = context.word(0, 'the peer').replace(/^@/, '')
    const text = context.word(1, 'the fingerprint')
    const fingerprint = text.startsWith('m4a1:') ? readToken(text).key : text
    const client = await context.operator()
    return show(context, await client.admin('link/peer/rotate', { name, fingerprint, master: context.options.master }))
  },
})

export const peerRemove = defineCommand({
  name: 'link peer remove',
  summary: 'trust a machine no more',
  usage: '<name>',
  help: `Takes the pin of a machine away. It gets nothing more and reaches nobody here; what waits for it is dropped.

  mail4agent link peer remove desk`,
  options: {},
  words: [1, 1],
  async run(context) {
    const name = context.word(0, 'the peer').replace(/^@/, '')
    const answer = await (await context.operator()).admin('link/peer/remove', { name })
    return context.show(answer, () => `${name} is trusted no more\n`)
  },
})
