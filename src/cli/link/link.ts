// mail4agent link: this machine at a homeserver, through which other machines are reached.
import type { AdminAnswer } from '../../wire/admin.ts'
import { defineCommand } from '../command.ts'
import { homeserverFor } from '../config.ts'
import type { Context } from '../context.ts'
import { clock } from '../times.ts'
import { usage } from '../usage.ts'
import { readSecret } from './secret.ts'

type Identity = AdminAnswer<'link/setup'>
type Status = AdminAnswer<'link/status'>

const WAYS = {
  password: 'password',
  'access-token': 'access_token',
  'login-token': 'login_token',
  'registration-token': 'registration_token',
} as const

export const linkSetup = defineCommand({
  name: 'link setup',
  summary: 'log this machine in at a Matrix homeserver',
  usage: '[options]',
  help: `Makes this machine a device at a Matrix homeserver, so that other machines can be reached: end to end encrypted, and only
those that you pin. Each machine needs a user of its own. The password is asked for at the terminal, or read from standard
input or from a file that only you can read; after that the vault alone has it.

  mail4agent link setup --homeserver https://matrix.example.org --user desk
  mail4agent link setup --homeserver example.org --user desk --way registration-token --secret-file token.txt
  mail4agent link setup --homeserver https://matrix.example.org --way access-token < token.txt

The vault's master key lies in a file beside it; the keychain of the system or an environment variable of the mailbox can
hold it instead:

  mail4agent link setup --homeserver https://matrix.example.org --user desk --holder keychain
  mail4agent link setup --homeserver https://matrix.example.org --user desk --holder env --variable DESK_VAULT

Environment: M4A_HOMESERVER_URL instead of --homeserver; or homeserver_url in config.toml.`,
  options: {
    homeserver: { value: 'URL', help: 'where the user is: https://host, or the name of the server' },
    user: { value: 'NAME', help: 'the user of this machine' },
    way: { value: 'WAY', help: `how to log in: ${Object.keys(WAYS).join(', ')} (default password)` },
    'secret-file': { value: 'FILE', help: 'read the password or token from a file of mode 0600' },
    holder: { value: 'HOLDER', help: 'who holds the master key: file, keychain, env (default file)' },
    variable: { value: 'NAME', help: 'with --holder env: the environment variable' },
  },
  words: [0, 0],
  async run(context) {
    const { options, io } = context
    const homeserver = options.homeserver ?? homeserverFor(io)
    if (!homeserver)
      throw usage(
        'the homeserver is missing',
        'name it with --homeserver, M4A_HOMESERVER_URL, or homeserver_url in config.toml',
      )
    const way = Object.entries(WAYS).find(([name]) => name === (options.way ?? 'password'))?.[1]
    if (way === undefined) throw usage('no such --way', `there are ${Object.keys(WAYS).join(', ')}`)
    const holder = (['file', 'keychain', 'env'] as const).find((one) => one === (options.holder ?? 'file'))
    if (holder === undefined) throw usage('no such --holder', 'there are file, keychain and env')
    const secret = await readSecret(way === 'password' ? 'password' : 'token', options['secret-file'], io)
    const client = await context.operator()
    const answer = await client.admin('link/setup', {
      homeserver,
      way,
      secret,
      holder,
      user: options.user ?? null,
      variable: options.variable ?? null,
    })
    return context.show(answer, () => identityText(context, answer))
  },
})

export const linkStatus = defineCommand({
  name: 'link status',
  summary: 'the link to other machines, and its peers',
  usage: '',
  help: `Shows whether this machine is linked, who it is there, how each peer stands, and what could not be read.

  mail4agent link status`,
  options: {},
  words: [0, 0],
  async run(context) {
    const answer = await (await context.operator()).admin('link/status', {})
    return context.show(answer, () => statusText(context, answer))
  },
})

export const linkOff = defineCommand({
  name: 'link off',
  summary: 'end the link: log out, forget keys and peers',
  usage: '',
  help: `Logs this machine out and takes away its vault, its keys and its pins. Mail that came stays; what was on its way to other
machines is not sent any more. A later setup is a new device, which the others have to pin anew.

  mail4agent link off`,
  options: {},
  words: [0, 0],
  async run(context) {
    const answer = await (await context.operator()).admin('link/off', {})
    return context.show(answer, () => 'the link is off; its device and keys are gone\n')
  },
})

function identityText(
  context: Context,
  { homeserver, user, device, fingerprint, account_key, token }: Identity,
): string {
  return `${context.facts([
    ['user', user],
    ['device', device],
    ['homeserver', homeserver],
    ['fingerprint', fingerprint],
    ['account key', account_key],
    ['in one line', token],
  ])}`
}

function statusText(context: Context, status: Status): string {
  if (status.identity === null)
    return status.state === 'off'
      ? 'off\n'
      : context.facts([
          ['state', 'down'],
          ['reason', status.reason],
        ])
  const parts = [
    context.facts([
      ['state', status.state],
      ['reason', status.reason],
      ['last sync', status.last_sync === null ? 'never' : clock(status.last_sync)],
    ]),
    identityText(context, status.identity),
    peerTable(context, status.peers),
  ]
  if (status.undecryptable.length > 0)
    parts.push(
      context.table(
        ['cannot be read', 'from', 'at'],
        status.undecryptable.map(({ reason, sender, at }) => [reason, sender, clock(at)]),
      ),
    )
  if (status.quarantined.length > 0)
    parts.push(
      context.table(
        ['kept apart', 'from', 'device', 'at'],
        status.quarantined.map(({ why, peer, device, at }) => [why, peer, device ?? '', clock(at)]),
      ),
    )
  return parts.join('\n')
}

export const peerTable = (context: Context, peers: Status['peers']): string =>
  context.table(
    ['peer', 'user', 'state', 'may reach', 'waiting', 'reason'],
    peers.map((peer) => [
      peer.name,
      peer.user,
      peer.state,
      [...peer.accounts, ...peer.rooms.map((room) => `#${room}`)].join(' '),
      String(peer.queued + peer.under_way),
      peer.reason ?? '',
    ]),
  )
