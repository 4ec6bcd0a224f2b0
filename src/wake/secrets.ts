// Address and key of an account's doors: out of the vault where its owner has put them there, else out of the owner's file.
import { statSync } from 'node:fs'
import { type Static, Type } from '@sinclair/typebox'
import { Refusal } from '../wire/refusal.ts'
import type { KeptKey } from '../wire/wake.ts'
import type { Gateway } from './gateway.ts'
import { NOTHING, type OwnerDoors, OwnerDoors as OwnerDoorsSchema, ownerDoor, ownerFile } from './owner.ts'
import { addressFault } from './post.ts'

/** Doors that have a key; those without stand in the file alone. */
export const KEYED = ['webhook', 'claude_routine'] as const
export type KeyedName = (typeof KEYED)[number]
export const KeyedDoors = Type.Pick(OwnerDoorsSchema, KEYED, { additionalProperties: false })
export type KeyedDoors = Static<typeof KeyedDoors>

const DOOR_IDS: Record<KeyedName, string> = { webhook: 'routine-webhook', claude_routine: 'claude-routine' }

/** The vault, as doors see it. Both throw Refusal `vault_damaged`, `vault_key_missing`, `bad_permissions`. */
export interface Secrets {
  /** What is kept for an account; `at` (ms) of each. */
  get(account: string): { doors: KeyedDoors; at: Partial<Record<KeyedName, number>> }
  /** The gateway of this host; null where none is kept. */
  gateway(): Gateway | null
}

export type KeyPlace = { readonly dataDir: string; readonly secrets: Secrets }
type Source = KeptKey['source']
type Placed<N extends KeyedName> =
  | { door: NonNullable<OwnerDoors[N]>; source: Source; at: number | null }
  | { door: null; why: string; source: Source | null }

/** The vault goes first, and one that does not open is no reason to believe the file: the door is refused. */
export function keyedDoor<N extends KeyedName>({ dataDir, secrets }: KeyPlace, account: string, name: N): Placed<N> {
  try {
    const { doors, at } = secrets.get(account)
    const door: OwnerDoors[N] = doors[name]
    if (door !== undefined) return { door, source: 'vault', at: at[name] ?? null }
  } catch (error) {
    return { door: null, why: vaultFault(error), source: 'vault' }
  }
  const own = ownerDoor(dataDir, account, name)
  if (own === NOTHING) return { door: null, why: own, source: null }
  if (typeof own === 'string') return { door: null, why: own, source: 'file' }
  return { door: own, source: 'file', at: writtenAt(ownerFile(dataDir, account)) }
}

/** Why the vault gives nothing, for people; of what is in it nothing is said. */
export const vaultFault = (error: unknown): string =>
  error instanceof Refusal ? `${error.kind}: ${error.message}` : 'vault_damaged: the vault cannot be read'

/** Where the keys of an account lie, since when, and whether they can be used; neither address nor key. */
export function keptKeys(
  place: KeyPlace,
  account: string,
): { door: string; source: Source; state: string; at: number | null }[] {
  return KEYED.flatMap((name) => {
    const found = keyedDoor(place, account, name)
    if (found.source === null) return []
    const row = { door: DOOR_IDS[name], source: found.source }
    if (found.door === null) return [{ ...row, state: found.why, at: null }]
    const { url, consent = false } = found.door
    return [{ ...row, state: addressFault({ url, consent }) ?? 'ready', at: found.at }]
  })
}

const writtenAt = (path: string): number | null => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null
