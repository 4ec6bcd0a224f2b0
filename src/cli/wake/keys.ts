// mail4agent wake import, forget: addresses and keys of doors, into the vault and out of it; never by an argument, never shown.
import { Value } from '@sinclair/typebox/value'
import { DoorKeys } from '../../link/vault/door-keys.ts'
import { holderOf } from '../../link/vault/vault.ts'
import { gatewayOf } from '../../wake/gateway.ts'
import { OwnerDoors } from '../../wake/owner.ts'
import { addressFault } from '../../wake/post.ts'
import { KEYED, type KeyedDoors } from '../../wake/secrets.ts'
import { defineCommand } from '../command.ts'
import type { Context } from '../context.ts'
import { readSecret } from '../link/secret.ts'
import { holderNamed } from '../link/vault.ts'
import { usage } from '../usage.ts'
import { keyRows, whoseOf } from './common.ts'

const SHAPE = 'it is {"webhook": {"url", "key"}} or {"claude_routine": {"url", "key"}}; of a gateway {"port", "token"}'

export const wakeImport = defineCommand({
  name: 'wake import',
  summary: 'put address and key of a door into the vault',
  usage: '[options] <account> [<file> | -]',
  help: `Reads the doors webhook and claude_routine of an account as JSON from standard input, or from a file that only you can read,
and puts them into a vault; the file stays as it is. What is in the vault goes before wake/ACCOUNT.json, door by door, and is
never shown. Other doors in the file, such as spool, are not taken: they have no key.

  mail4agent wake import claude < doors.json
  mail4agent wake import claude ~/.local/share/mail4agent/wake/claude.json
  mail4agent wake import --gateway gateway.json      port and token of the gateway of this host

The vault needs no link. Its master key lies in a file beside it; the keychain of the system or an environment variable of
the mailbox can hold it instead, with --holder the first time, later with mail4agent vault move --doors.`,
  options: {
    gateway: { help: 'the gateway of this host, instead of an account' },
    holder: { value: 'HOLDER', help: 'who holds the master key of a new vault: file, keychain, env (default file)' },
    variable: { value: 'NAME', help: 'with --holder env: the environment variable' },
  },
  words: [0, 2],
  async run(context) {
    const { options, io, place, words } = context
    const account = options.gateway ? null : accountOf(context)
    const file = words[account === null ? 0 : 1]
    if (account === null && words.length > 1) throw usage('with --gateway there is no account')
    const keys = new DoorKeys(place.dataDir, io.env)
    const holder = holderOf(
      holderNamed(options.holder ?? keys.holder?.kind ?? 'file'),
      options.variable ?? variableOf(keys),
    )
    if (keys.holder !== null && holder.kind !== keys.holder.kind)
      throw usage(`the vault is there already, held by: ${keys.holder.kind}`, 'mail4agent vault move --doors <holder>')
    const client = await context.operator()
    // there is no such account: better said before a key is asked for
    if (account !== null) await client.admin('wake/status', { account, limit: 1 })
    const given = parsed(await readSecret('JSON', file === '-' ? undefined : file, io))
    if (account === null) {
      const gateway = gatewayOf(given)
      if (gateway === null) throw usage('that is no gateway', SHAPE)
      keys.putGateway(gateway, Date.now(), holder)
      return context.show({ gateway: true }, () => 'the gateway is in the vault\n')
    }
    keys.put(account, keyedOf(given), Date.now(), holder)
    // as the mailbox sees it: whether the vault opens for it too
    const status = (await client.admin('wake/status', { account, limit: 1 })).wakes[0]
    return context.show({ account, keys: status?.keys ?? [] }, () => keyRows(context, status?.keys ?? []))
  },
})

export const wakeForget = defineCommand({
  name: 'wake forget',
  summary: 'take address and key of its doors out of the vault',
  usage: '[options] <account>',
  help: `Takes what wake import has put into the vault for an account out of it. wake/ACCOUNT.json stays, and counts again.

  mail4agent wake forget claude
  mail4agent wake forget --gateway`,
  options: { gateway: { help: 'the gateway of this host, instead of an account' } },
  words: [0, 1],
  async run(context) {
    const { options, io, place, words } = context
    if (options.gateway && words.length > 0) throw usage('with --gateway there is no account')
    const forgotten = new DoorKeys(place.dataDir, io.env).forget(options.gateway ? null : accountOf(context))
    return context.show({ forgotten }, () => (forgotten ? 'forgotten\n' : 'the vault had nothing of it\n'))
  },
})

function accountOf(context: Context): string {
  const { account, session } = whoseOf(context.word(0, 'the account'))
  if (session !== null) throw usage('keys belong to an account, not to a session of it')
  return account
}

function variableOf({ holder }: DoorKeys): string | undefined {
  return holder?.kind === 'env' ? holder.name : undefined
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch {} // what the parser says would quote the text
  throw usage('that is no JSON object', SHAPE)
}

function keyedOf(given: object): KeyedDoors {
  if (!Value.Check(OwnerDoors, given))
    throw usage(`that is not understood at ${Value.Errors(OwnerDoors, given).First()?.path || 'the top'}`, SHAPE)
  const { webhook, claude_routine } = given
  const doors = { ...(webhook ? { webhook } : {}), ...(claude_routine ? { claude_routine } : {}) }
  if (Object.keys(doors).length === 0) throw usage(`there is no ${KEYED.join(' and no ')} in it`, SHAPE)
  for (const [name, { url, consent = false }] of Object.entries(doors)) {
    const fault = addressFault({ url, consent })
    if (fault !== null) throw usage(`${name}: ${fault}`)
  }
  return doors
}
