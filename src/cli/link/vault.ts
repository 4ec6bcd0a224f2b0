// mail4agent vault: the sealed file with the secrets of the link, or of doors; who holds its key, and copies of it under a passphrase.
import { existsSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { backupVault, restoreVault } from '../../link/vault/backup.ts'
import { doorVaultFolder } from '../../link/vault/door-keys.ts'
import { holderOf, readHead, Vault, vaultPath } from '../../link/vault/vault.ts'
import { defineCommand } from '../command.ts'
import type { Context } from '../context.ts'
import { usage } from '../usage.ts'
import { readSecret } from './secret.ts'

const DOORS = { doors: { help: 'the vault with the keys of doors, not that of the link' } } as const

const folderOf = ({ place, options }: Context<typeof DOORS>): string =>
  options.doors ? doorVaultFolder(place.dataDir) : join(place.dataDir, 'link')

/** @throws Refusal `usage` where no keys of doors were ever put into a vault */
function existing(context: Context<typeof DOORS>): string {
  const folder = folderOf(context)
  if (context.options.doors && !existsSync(vaultPath(folder)))
    throw usage('no keys of doors are in a vault', 'put them there: mail4agent wake import <account>')
  return folder
}
const HOLDER = {
  holder: { value: 'HOLDER', help: 'who holds the master key: file, keychain, env' },
  variable: { value: 'NAME', help: 'with env: the environment variable' },
} as const
const PASSPHRASE = {
  'passphrase-file': { value: 'FILE', help: 'read the passphrase from a file of mode 0600' },
} as const

export function holderNamed(text: string) {
  const kind = (['file', 'keychain', 'env'] as const).find((one) => one === text)
  if (kind === undefined) throw usage('no such holder', 'there are file, keychain and env')
  return kind
}

export const vaultStatus = defineCommand({
  name: 'vault status',
  summary: 'who holds the key of the vault, and what is in it',
  usage: '',
  help: `Says who holds the master key, whether the vault opens with it, and the labels of what it holds; never a secret.

  mail4agent vault status
  mail4agent vault status --doors      the vault of mail4agent wake import`,
  options: DOORS,
  words: [0, 0],
  async run(context) {
    const folder = existing(context)
    const { holder, generation } = readHead(folder)
    const { labels } = Vault.open(folder, context.io.env)
    const variable = holder.kind === 'env' ? holder.name : null
    return context.show({ folder, holder: holder.kind, variable, generation, labels }, () =>
      context.facts([
        ['folder', folder],
        ['key held by', variable === null ? holder.kind : `env ${variable}`],
        ['written', `${generation} times`],
        ['holds', labels.join(' ')],
      ]),
    )
  },
})

export const vaultMove = defineCommand({
  name: 'vault move',
  summary: 'give the key of the vault to another holder',
  usage: '[options] <holder>',
  help: `Makes a new master key that another holder keeps, and forgets the old one. With env the variable has to be set for the
mailbox too.

  mail4agent vault move keychain
  mail4agent vault move env --variable DESK_VAULT`,
  options: { ...DOORS, variable: HOLDER.variable },
  words: [1, 1],
  async run(context) {
    const vault = Vault.open(existing(context), context.io.env)
    vault.rekey(holderNamed(context.word(0, 'the holder')), context.options.variable)
    return context.show({ holder: vault.holder.kind }, () => `the key is held by: ${vault.holder.kind}\n`)
  },
})

export const vaultRotate = defineCommand({
  name: 'vault rotate',
  summary: 'make a new key for the vault',
  usage: '',
  help: `Makes a new master key with the same holder, and forgets the old one.

  mail4agent vault rotate`,
  options: DOORS,
  words: [0, 0],
  async run(context) {
    const vault = Vault.open(existing(context), context.io.env)
    vault.rekey(vault.holder.kind)
    return context.show({ holder: vault.holder.kind, generation: vault.generation }, () => 'the vault has a new key\n')
  },
})

export const vaultBackup = defineCommand({
  name: 'vault backup',
  summary: 'copy the vault under a passphrase',
  usage: '[options] <file>',
  help: `Writes a copy of the vault that a passphrase opens. It brings back a vault whose key was lost, beside the device store that
is still there. It never makes a second device: a copied device store is refused.

  mail4agent vault backup vault.backup
  mail4agent vault backup vault.backup --passphrase-file pass.txt`,
  options: { ...DOORS, ...PASSPHRASE },
  words: [1, 1],
  async run(context) {
    const path = resolve(context.io.cwd, context.word(0, 'the file'))
    const vault = Vault.open(existing(context), context.io.env)
    backupVault(vault, path, await readSecret('passphrase', context.options['passphrase-file'], context.io))
    return context.show({ path }, () => `wrote ${path}\n`)
  },
})

export const vaultRestore = defineCommand({
  name: 'vault restore',
  summary: 'make the vault anew from a copy',
  usage: '[options] <file>',
  help: `Makes the vault anew from a copy, while the mailbox is stopped. A vault that is there is never overwritten: move it away.

  mail4agent vault restore vault.backup`,
  options: { ...DOORS, ...PASSPHRASE, ...HOLDER },
  words: [1, 1],
  async run(context) {
    const { options, io } = context
    const path = resolve(io.cwd, context.word(0, 'the file'))
    const folder = folderOf(context)
    if (!existsSync(folder)) mkdirSync(folder, { recursive: true, mode: 0o700 })
    const passphrase = await readSecret('passphrase', options['passphrase-file'], io)
    const holder = holderOf(holderNamed(options.holder ?? 'file'), options.variable)
    const vault = restoreVault(folder, io.env, path, passphrase, holder)
    return context.show({ labels: vault.labels }, () => `restored ${vault.labels.length} secrets\n`)
  },
})
