// A copy of the vault under a passphrase: argon2id and AES-256-GCM, a file of its own that needs no master key.
import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { malformed, Refusal } from '../../wire/refusal.ts'
import { derive, type Environment, type Holder } from './holders.ts'
import { type Secrets, seal, splitSealed, unseal } from './sealed.ts'
import { Vault, vaultPath } from './vault.ts'

type Head = { v: 1; kdf: 'argon2id'; memory: number; passes: number; parallelism: number; salt: string }

/** Memory in KiB: 64 MiB, three passes, as RFC 9106 §4 recommends where memory is scarce. */
const COST = { memory: 65_536, passes: 3, parallelism: 4 }
/** A file that asks for more is not ours: it would only keep us busy. */
const COST_MOST = { memory: 262_144, passes: 10, parallelism: 16 }
export const PASSPHRASE_LEAST = 12

/** @throws Refusal `usage` where the file exists or the passphrase is short */
export function backupVault(vault: Vault, path: string, passphrase: string): void {
  if (passphrase.length < PASSPHRASE_LEAST)
    throw new Refusal('usage', `the passphrase has to have ${PASSPHRASE_LEAST} characters or more`)
  if (existsSync(path)) throw new Refusal('usage', `${path} exists; a backup never overwrites`, { path })
  const salt = randomBytes(16)
  const head: Head = { v: 1, kdf: 'argon2id', ...COST, salt: salt.toString('base64') }
  const file = openSync(path, 'wx', 0o600)
  try {
    writeFileSync(file, seal(head, { ...vault.secrets }, derive(passphrase, salt, COST)))
  } finally {
    closeSync(file)
  }
}

/**
 * Makes the vault of `folder` anew from a backup; an existing one is left alone.
 * @throws Refusal `link_exists`, `vault_damaged` for a wrong passphrase too; nothing is written then
 */
export function restoreVault(
  folder: string,
  env: Environment,
  path: string,
  passphrase: string,
  holder: Holder,
): Vault {
  if (existsSync(vaultPath(folder))) throw new Refusal('link_exists', 'there is a vault already; nothing was written')
  return Vault.make(folder, env, holder, readBackup(path, passphrase))
}

function readBackup(path: string, passphrase: string): Secrets {
  if (!existsSync(path)) throw malformed('file', `there is no ${path}`)
  const file = splitSealed(readFileSync(path, 'utf8'), isHead)
  const { memory, passes, parallelism } = file
  if (memory > COST_MOST.memory || passes > COST_MOST.passes || parallelism > COST_MOST.parallelism)
    throw new Refusal('vault_damaged', 'the backup asks for more work than a backup of ours ever does')
  return unseal(file, derive(passphrase, Buffer.from(file.salt, 'base64'), { memory, passes, parallelism }))
}

const isHead = (value: object): value is Head =>
  'v' in value &&
  value.v === 1 &&
  'kdf' in value &&
  value.kdf === 'argon2id' &&
  'salt' in value &&
  typeof value.salt === 'string' &&
  ['memory', 'passes', 'parallelism'].every((name) =>
    Number.isInteger(Object.entries(value).find(([key]) => key === name)?.[1]),
  )
