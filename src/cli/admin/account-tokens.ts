// mail4agent admin account add, rotate: secrets are made here and stay here; the mailbox gets their digest.
import type { MailClient } from '../../client/client.ts'
import { digestOf, newSecret } from '../../engine/admin/secret.ts'
import { defineCommand } from '../command.ts'
import type { Context } from '../context.ts'
import { prepareToken } from '../token-files.ts'
import { accountName, CAPABILITIES, capabilityFlags } from './capabilities.ts'

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
  options: {
    label: { short: 'l', value: 'TEXT', help: 'a name for people' },
    can: { short: 'c', value: 'LIST', multiple: true, help: `what it may do, of ${CAPABILITIES.join(',')}` },
    person: { help: 'a person: no agent may use the token' },
    ...PRINT,
  },
  words: [1, 1],
  async run(context) {
    const { options } = context
    const name = accountName(context.word(0, 'the name'))
    const granted = options.can.length === 0 ? {} : capabilityFlags('--can', options.can, true)
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
    const name = accountName(context.word(0, 'the name'))
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
