// mail4agent admin account: who may use the mailbox. Secrets are made here and stay here: the mailbox gets their digest.
import type { MailClient } from '../../client/client.ts'
import { digestOf, newSecret } from '../../engine/admin/secret.ts'
import type { Account } from '../../wire/admin.ts'
import { LIMITS } from '../../wire/limits.ts'
import { isName } from '../../wire/names.ts'
import type { Capability } from '../../wire/operations.ts'
import { defineCommand } from '../command.ts'
import type { Context } from '../context.ts'
import { forgetToken, prepareToken } from '../token-files.ts'
import { nearest, usage } from '../usage.ts'

/** Capability → the member of the request that grants it. */
const FLAGS = {
  send: 'may_send',
  read: 'may_read',
  dispatch: 'may_dispatch',
  behalf: 'may_behalf',
  operator: 'operator',
} as const satisfies Record<Capability, string>
const KINDS = ['agent', 'person'] as const
const NAMES = Object.keys(FLAGS)
const isCapability = (name: string): name is Capability => Object.hasOwn(FLAGS, name)

/** The flags that a list such as `send,read` sets to `value`. */
function flags(option: string, list: readonly string[], value: boolean) {
  const set: Partial<Record<(typeof FLAGS)[Capability], boolean>> = {}
  for (const name of list.flatMap((part) => part.split(',')).map((part) => part.trim())) {
    if (!isCapability(name)) {
      const meant = nearest(name, NAMES)
      throw usage(
        `${option}: no capability ${JSON.stringify(name.slice(0, 100))}`,
        meant ? `did you mean: ${meant}` : `there are ${NAMES.join(', ')}`,
      )
    }
    set[FLAGS[name]] = value
  }
  return set
}

const plainName = (word: string): string => {
  const name = word.startsWith('@') ? word.slice(1) : word
  if (!isName(name))
    throw usage(`${JSON.stringify(name.slice(0, 200))} is no name`, 'names are 1 to 128 of A-Z a-z 0-9 . _ + -')
  return name
}

export const accountList = defineCommand({
  name: 'admin account list',
  summary: 'list accounts with what they may do',
  usage: '',
  help: `Lists the accounts: what they may do, their rooms, their listener. No secret and no digest is ever shown.

  mail4agent admin account list`,
  options: {},
  words: [0, 0],
  async run(context) {
    const client = await context.operator()
    const accounts: Account[] = []
    for (let after: string | null = null; ; ) {
      const page: Awaited<ReturnType<typeof listPage>> = await listPage(after)
      accounts.push(...page.accounts)
      if (!page.has_more || page.after === null) break
      after = page.after
    }
    function listPage(after: string | null) {
      return client.admin('participant/list', { limit: LIMITS.pageMax, after })
    }
    return context.show({ accounts, has_more: false, after: null }, () =>
      context.table(['account', 'kind', 'may', 'rooms', 'label'], accounts.map(row)),
    )
  },
})

const row = (account: Account): string[] => [
  account.id,
  account.kind,
  NAMES.filter((name) => isCapability(name) && account[FLAGS[name]]).join(','),
  account.rooms.map((room) => `#${room}`).join(' '),
  account.label ?? '',
]

const MADE = {
  label: { short: 'l', value: 'TEXT', help: 'a name for people' },
  can: { short: 'c', value: 'LIST', multiple: true, help: `what it may do, of ${NAMES.join(',')}` },
} as const
const PRINT = { 'print-token': { help: 'also print the secret itself; whoever sees it is that account' } } as const

export const accountAdd = defineCommand({
  name: 'admin account add',
  summary: 'make an account and its token',
  usage: '[options] <name>',
  help: `Makes an account. Its secret is made here and kept in the data folder, in tokens/<name>, readable by you only; the mailbox
gets its digest. Commands of the agent of that name find the token there, others name it with M4A_TOKEN_FILE.
Without --can it may send and read.

  mail4agent admin account add claude
  mail4agent admin account add lukas --person --label "Lukas" --can send,read,operator`,
  options: { ...MADE, person: { help: 'a person: no agent may use the token' }, ...PRINT },
  words: [1, 1],
  async run(context) {
    const { options } = context
    const name = plainName(context.word(0, 'the name'))
    const granted = options.can.length === 0 ? {} : flags('--can', options.can, true)
    return issue(context, name, options['print-token'], 'made', (client, digest) =>
      client.admin('participant', {
        id: name,
        digest,
        ...granted,
        label: options.label ?? null,
        kind: options.person ? 'person' : 'agent',
      }),
    )
  },
})

export const accountRotate = defineCommand({
  name: 'admin account rotate',
  summary: 'replace the token of an account',
  usage: '[options] <name>',
  help: `Makes a new secret for an account, in the same place. The old one ends at once.

  mail4agent admin account rotate claude`,
  options: PRINT,
  words: [1, 1],
  async run(context) {
    const name = plainName(context.word(0, 'the name'))
    return issue(context, name, context.options['print-token'], 'replaced', (client, digest) =>
      client.admin('participant/rotate', { id: name, digest }),
    )
  },
})

/** Makes a secret, hands its digest to `register`, and keeps it once that has worked. */
async function issue(
  context: Context,
  name: string,
  print: boolean,
  done: string,
  register: (client: MailClient, digest: string) => Promise<{ id: string }>,
): Promise<number> {
  const client = await context.operator()
  const secret = newSecret()
  const pending = prepareToken(context.place.dataDir, name, secret)
  let id: string
  try {
    id = (await register(client, digestOf(secret))).id
  } catch (error) {
    pending.drop()
    throw error
  }
  pending.keep()
  const shown = print ? { secret } : {}
  return context.show({ id, token_file: pending.path, ...shown }, () =>
    [`${done} ${id}`, `its token is in ${pending.path}`, ...(print ? [secret] : [])]
      .map((line) => `${line}\n`)
      .join(''),
  )
}

export const accountSet = defineCommand({
  name: 'admin account set',
  summary: 'change what an account may do, or its label',
  usage: '[options] <name>',
  help: `Changes an account. What is not named stays as it is.

  mail4agent admin account set claude --can dispatch
  mail4agent admin account set claude --cannot send,dispatch
  mail4agent admin account set claude --label ""`,
  options: {
    can: { short: 'c', value: 'LIST', multiple: true, help: `grant, of ${NAMES.join(',')}` },
    cannot: { value: 'LIST', multiple: true, help: 'take away' },
    label: MADE.label,
    kind: { value: 'KIND', help: 'agent or person' },
  },
  words: [1, 1],
  async run(context) {
    const { can, cannot, label, kind } = context.options
    const known = KINDS.find((name) => name === kind)
    if (kind !== undefined && known === undefined) throw usage(`--kind is ${KINDS.join(' or ')}`)
    const change = {
      ...flags('--can', can, true),
      ...flags('--cannot', cannot, false),
      ...(label === undefined ? {} : { label }),
      ...(known === undefined ? {} : { kind: known }),
    }
    if (Object.keys(change).length === 0) throw usage('nothing to change', 'see: mail4agent help admin account set')
    const client = await context.operator()
    const account = await client.admin('participant/set', { id: plainName(context.word(0, 'the name')), ...change })
    return context.show(account, () => context.table(['account', 'kind', 'may', 'rooms', 'label'], [row(account)]))
  },
})

export const accountRemove = defineCommand({
  name: 'admin account remove',
  summary: 'remove an account; its mail stays',
  usage: '<name>',
  help: `Removes an account and its token file. Its mail stays in the store; a later account of that name is another one.

  mail4agent admin account remove claude`,
  options: {},
  words: [1, 1],
  async run(context) {
    const name = plainName(context.word(0, 'the name'))
    const client = await context.operator()
    const answer = await client.admin('participant/remove', { id: name })
    forgetToken(context.place.dataDir, name)
    return context.show(answer, () => `removed ${name}\n`)
  },
})
