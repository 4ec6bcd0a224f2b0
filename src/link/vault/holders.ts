// Who holds the master key of the vault: a key file, the keychain of the system, or an environment variable that a person named.
import { argon2Sync, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { writePrivate } from '../../store/private-file.ts'
import { Refusal } from '../../wire/refusal.ts'
import { keychainFor } from './keychain.ts'

/** Recorded in the vault, and authenticated with it. `id` tells one master key from the next. */
export type Holder =
  | { kind: 'file'; id: string }
  | { kind: 'keychain'; id: string }
  | { kind: 'env'; id: string; name: string }

export type Environment = Record<string, string | undefined>

const KEY = 32
/** OWASP's least for argon2id: 19 MiB, two passes, one lane. */
const COST = { memory: 19_456, passes: 2, parallelism: 1 }
const SECRET_LEAST = 16

export const newHolderId = (): string => randomBytes(16).toString('hex')

export const keyFile = (folder: string, id: string): string => join(folder, `vault-${id}.key`)

/** @throws Refusal `vault_key_missing` where the holder does not give it, `bad_permissions` where others could read it */
export function readKey(folder: string, holder: Holder, env: Environment): Uint8Array {
  const key = keyOf(folder, holder, env)
  if (key.length !== KEY) throw missing(holder, 'what it holds is no key of 32 bytes')
  return key
}

function keyOf(folder: string, holder: Holder, env: Environment): Uint8Array {
  if (holder.kind === 'env') return derived(holder, env)
  if (holder.kind === 'keychain') {
    const text = keychainFor(folder).read(holder.id)
    if (text === null) throw missing(holder, 'the keychain of this system does not have it')
    return Buffer.from(text, 'base64')
  }
  const path = keyFile(folder, holder.id)
  if (!existsSync(path)) throw missing(holder, 'the key file is gone', { path })
  if (process.platform !== 'win32' && (statSync(path).mode & 0o77) !== 0)
    throw new Refusal('bad_permissions', `${path} is open to other users`, { path }, `close it: chmod 600 ${path}`)
  return readFileSync(path)
}

function derived(holder: Extract<Holder, { kind: 'env' }>, env: Environment): Uint8Array {
  const secret = env[holder.name]
  if (!secret) throw missing(holder, `the environment variable ${holder.name} is not set`)
  return derive(secret, Buffer.from(holder.id, 'hex'), COST)
}

/** argon2id, RFC 9106. `memory` in KiB. */
export function derive(secret: string, salt: Uint8Array, cost: typeof COST): Uint8Array {
  return argon2Sync('argon2id', { message: secret, nonce: salt, ...cost, tagLength: KEY })
}

/**
 * A new master key, given to the holder and read back from it.
 * @throws Refusal `vault_key_missing` where the holder cannot keep it, `usage` for a weak variable
 */
export function makeKey(folder: string, holder: Holder, env: Environment): Uint8Array {
  if (holder.kind === 'env') {
    const secret = env[holder.name]
    if (secret !== undefined && secret.length < SECRET_LEAST)
      throw new Refusal('usage', `${holder.name} has to hold ${SECRET_LEAST} characters or more`)
    return readKey(folder, holder, env)
  }
  const key = randomBytes(KEY)
  if (holder.kind === 'file') writePrivate(keyFile(folder, holder.id), key)
  else keychainFor(folder).write(holder.id, key.toString('base64'))
  const kept = readKey(folder, holder, env)
  if (!key.equals(kept)) throw missing(holder, 'it did not give back what it was given')
  return kept
}

/** What the holder has of a key that is no longer used. */
export function forgetKey(folder: string, holder: Holder): void {
  if (holder.kind === 'file') rmSync(keyFile(folder, holder.id), { force: true })
  if (holder.kind === 'keychain') keychainFor(folder).remove(holder.id)
}

const missing = ({ kind }: Holder, why: string, facts: object = {}): Refusal =>
  new Refusal('vault_key_missing', `the vault stays closed: ${why}`, { holder: kind, ...facts })
