// Addresses and keys of doors, in a vault of their own that needs no link: what an owner puts there, and what doors get out.
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { Gateway } from '../../wake/gateway.ts'
import { KEYED, KeyedDoors, type Secrets } from '../../wake/secrets.ts'
import { canonical } from '../../wire/names.ts'
import { Refusal } from '../../wire/refusal.ts'
import type { Environment, Holder } from './holders.ts'
import { Vault, vaultPath } from './vault.ts'

/** Not the link's: ending a link takes its folder away, and a device that is copied must not run twice, where keys may. */
export const doorVaultFolder = (dataDir: string): string => join(dataDir, 'wake', 'vault')

const At = Type.Number()
const KeptDoor = Type.Object({ at: At, doors: KeyedDoors })
const KeptGateway = Type.Object({ at: At, gateway: Gateway })

/** No account has a slash in its name. */
const GATEWAY = '/gateway'
const labelOf = (account: string, name: string): string => `${canonical(account)}/${name}`

export class DoorKeys implements Secrets {
  readonly #folder: string
  /** The vault as it was when its file had this text. */
  #opened: { text: string; vault: Vault } | null = null

  constructor(
    dataDir: string,
    private readonly env: Environment,
  ) {
    this.#folder = doorVaultFolder(dataDir)
  }

  get(account: string): ReturnType<Secrets['get']> {
    const found: ReturnType<Secrets['get']> = { doors: {}, at: {} }
    const vault = this.#vault()
    for (const name of KEYED) {
      const kept = understood(KeptDoor, vault?.get(labelOf(account, name)) ?? null)
      if (kept === null) continue
      Object.assign(found.doors, kept.doors)
      found.at[name] = kept.at
    }
    return found
  }

  gateway(): Gateway | null {
    return understood(KeptGateway, this.#vault()?.get(GATEWAY) ?? null)?.gateway ?? null
  }

  /** Who holds the master key; null where there is no vault yet. */
  get holder(): Holder | null {
    return this.#vault()?.holder ?? null
  }

  /** Keeps these doors of an account; its others stay. `holder`: for a vault that has to be made first. */
  put(account: string, doors: KeyedDoors, at: number, holder: Holder): void {
    const given = KEYED.filter((name) => doors[name] !== undefined)
    this.#change(
      Object.fromEntries(
        given.map((name) => [labelOf(account, name), JSON.stringify({ at, doors: { [name]: doors[name] } })]),
      ),
      holder,
    )
  }

  putGateway(gateway: Gateway, at: number, holder: Holder): void {
    this.#change({ [GATEWAY]: JSON.stringify({ at, gateway }) }, holder)
  }

  /** Takes away what is kept of an account, or with null of the gateway. Answers whether there was anything. */
  forget(account: string | null): boolean {
    const vault = this.#vault()
    const labels = account === null ? [GATEWAY] : KEYED.map((name) => labelOf(account, name))
    const there = labels.filter((label) => vault?.get(label) != null)
    if (there.length > 0) vault?.change(Object.fromEntries(there.map((label) => [label, null])))
    return there.length > 0
  }

  #change(secrets: Record<string, string>, holder: Holder): void {
    if (this.#vault() === null) {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
      try {
        Vault.make(this.#folder, this.env, holder, secrets)
        return
      } catch (error) {
        if (!(error instanceof Refusal && error.kind === 'link_exists')) throw error // somebody else was first
      }
    }
    this.#vault()?.change(secrets)
  }

  /** Other processes change it too: what is told is what stands in the file now. */
  #vault(): Vault | null {
    const path = vaultPath(this.#folder)
    if (!existsSync(path)) return null
    const text = readFileSync(path, 'utf8')
    if (this.#opened?.text === text) return this.#opened.vault
    this.#opened = null
    try {
      this.#opened = { text, vault: Vault.open(this.#folder, this.env) }
      return this.#opened.vault
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const hint = `give the key back, or move ${this.#folder} away and import anew: mail4agent wake import`
      throw new Refusal(error.kind, error.message, error.facts, hint)
    }
  }
}

/** @throws Refusal `vault_damaged` */
function understood<T extends TSchema>(schema: T, text: string | null): Static<T> | null {
  if (text === null) return null
  const value: unknown = JSON.parse(text)
  if (Value.Check(schema, value)) return value
  throw new Refusal('vault_damaged', 'what the vault holds of a door is not understood')
}
