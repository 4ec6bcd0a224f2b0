// The vault: what the link must keep secret, sealed in one file; changed under a lock that other processes see, whole or not at all.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { lock } from '../../store/lock.ts'
import { writePrivate } from '../../store/private-file.ts'
import { Refusal } from '../../wire/refusal.ts'
import { type Environment, forgetKey, type Holder, keyFile, makeKey, newHolderId, readKey } from './holders.ts'
import { type Secrets, seal, splitSealed, unseal } from './sealed.ts'

type Head = { v: 1; holder: Holder; generation: number }

export const vaultPath = (folder: string): string => join(folder, 'vault.json')

/** Tries for the lock, 20 ms apart: a change takes some milliseconds, a keychain that asks a person longer. */
const TRIES = 250

export class Vault {
  #key: Uint8Array
  #head: Head
  #secrets: Secrets

  private constructor(
    readonly folder: string,
    readonly env: Environment,
    head: Head,
    key: Uint8Array,
    secrets: Secrets,
  ) {
    this.#head = head
    this.#key = key
    this.#secrets = secrets
  }

  /**
   * Opens the vault of that folder.
   * @throws Refusal `link_off` where there is none, `vault_key_missing`, `vault_damaged`, `bad_permissions`
   */
  static open(folder: string, env: Environment): Vault {
    const file = readFile(folder)
    const key = readKey(folder, file.holder, env)
    return new Vault(folder, env, headOf(file), key, unseal(file, key))
  }

  /** Makes a vault whose master key `kind` holds. @throws Refusal `link_exists`, `vault_key_missing` */
  static make(folder: string, env: Environment, holder: Holder, secrets: Secrets): Vault {
    const release = hold(folder)
    try {
      if (existsSync(vaultPath(folder))) throw new Refusal('link_exists', 'there is a vault already')
      const key = makeKey(folder, holder, env)
      const head: Head = { v: 1, holder, generation: 1 }
      writePrivate(vaultPath(folder), seal(head, secrets, key))
      return new Vault(folder, env, head, key, secrets)
    } finally {
      release()
    }
  }

  get holder(): Holder {
    return this.#head.holder
  }

  /** How often it was written. */
  get generation(): number {
    return this.#head.generation
  }

  get labels(): string[] {
    return Object.keys(this.#secrets).sort()
  }

  get secrets(): Readonly<Secrets> {
    return this.#secrets
  }

  get(label: string): string | null {
    return this.#secrets[label] ?? null
  }

  /** Sets labels, or takes away those that are null. On the disk when it returns. */
  change(changes: Record<string, string | null>): void {
    this.#locked(() => {
      const secrets = { ...this.#secrets }
      for (const [label, value] of Object.entries(changes))
        if (value === null) delete secrets[label]
        else secrets[label] = value
      this.#write({ ...this.#head, generation: this.#head.generation + 1 }, this.#key, secrets)
    })
  }

  /**
   * A new master key, with the same holder or another one. The new key is kept before the vault needs it and the old one
   * forgotten after that, so a crash anywhere leaves a vault that opens.
   */
  rekey(kind: Holder['kind'], name?: string): void {
    this.#locked(() => {
      const before = this.holder
      const holder = holderOf(kind, name ?? (before.kind === 'env' ? before.name : undefined))
      const key = makeKey(this.folder, holder, this.env)
      this.#write({ ...this.#head, holder, generation: this.#head.generation + 1 }, key, this.#secrets)
      forgetKey(this.folder, before)
    })
  }

  #write(head: Head, key: Uint8Array, secrets: Secrets): void {
    writePrivate(vaultPath(this.folder), seal(head, secrets, key))
    this.#head = head
    this.#key = key
    this.#secrets = secrets
  }

  /** Another process may have written since: its state is the one that is changed. */
  #locked(work: () => void): void {
    const release = hold(this.folder)
    try {
      const file = readFile(this.folder)
      if (file.holder.id !== this.holder.id) this.#key = readKey(this.folder, file.holder, this.env)
      this.#secrets = unseal(file, this.#key)
      this.#head = headOf(file)
      sweepKeys(this.folder, this.holder)
      work()
    } finally {
      release()
    }
  }
}

export function holderOf(kind: Holder['kind'], name?: string): Holder {
  const id = newHolderId()
  if (kind !== 'env') return { kind, id }
  if (name === undefined || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    throw new Refusal('usage', 'name the environment variable that holds the secret')
  return { kind, id, name }
}

/** What the clear part of the file says, without opening it. @throws Refusal `link_off`, `vault_damaged` */
export function readHead(folder: string): Head {
  return headOf(readFile(folder))
}

function readFile(folder: string): ReturnType<typeof splitSealed<Head>> {
  const path = vaultPath(folder)
  if (!existsSync(path)) throw new Refusal('link_off', 'this mailbox is linked to no other machine')
  return splitSealed(readFileSync(path, 'utf8'), isHead)
}

const headOf = ({ v, holder, generation }: Head): Head => ({ v, holder, generation })

const isHead = (value: object): value is Head =>
  'v' in value &&
  value.v === 1 &&
  'generation' in value &&
  typeof value.generation === 'number' &&
  'holder' in value &&
  isHolder(value.holder)

const isHolder = (value: unknown): value is Holder =>
  typeof value === 'object' &&
  value !== null &&
  'id' in value &&
  typeof value.id === 'string' &&
  /^[0-9a-f]{32}$/.test(value.id) &&
  'kind' in value &&
  (value.kind === 'file' || value.kind === 'keychain' || (value.kind === 'env' && 'name' in value))

/** A crash between two keys leaves the file of one that no vault needs. */
function sweepKeys(folder: string, holder: Holder): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (/^vault-[0-9a-f]{32}\.key$/.test(name) && path !== keyFile(folder, holder.id)) rmSync(path, { force: true })
  }
}

/** @throws Refusal `vault_busy` */
export function hold(folder: string): () => void {
  for (let tries = 0; ; tries++) {
    try {
      return lock(join(folder, 'vault.lock')).release
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      if (tries >= TRIES) throw new Refusal('vault_busy', 'another process holds the vault')
      Bun.sleepSync(20)
    }
  }
}
