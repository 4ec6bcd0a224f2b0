// Doors that the owner of the mailbox sets up for an account by hand: one file each, readable by its owner alone, never shown.
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { canonical } from '../wire/names.ts'
import { readOwn } from './files.ts'

const strict = { additionalProperties: false }
const Secret = Type.String({ pattern: '^[\\x21-\\x7e]{1,4096}$' })
const Address = Type.String({ minLength: 1, maxLength: 2048 })
const Words = Type.Array(Type.String({ minLength: 1, maxLength: 4096 }), { minItems: 1, maxItems: 64 })

export const OwnerDoors = Type.Object(
  {
    /** A program and its arguments, as they are: the letter comes on its standard input. */
    letter_hook: Type.Optional(Words),
    /** true: in the data folder. */
    spool: Type.Optional(Type.Union([Type.Literal(true), Type.String({ pattern: '^/' })])),
    /** `consent`: letters may leave this machine for that address. */
    webhook: Type.Optional(
      Type.Object({ url: Address, key: Type.Optional(Secret), consent: Type.Optional(Type.Boolean()) }, strict),
    ),
    claude_routine: Type.Optional(
      Type.Object(
        { url: Address, key: Secret, consent: Type.Optional(Type.Boolean()), beta: Type.Optional(Secret) },
        strict,
      ),
    ),
    /** An agent that speaks ACP on its standard streams. */
    acp: Type.Optional(Words),
  },
  strict,
)
export type OwnerDoors = Static<typeof OwnerDoors>

/** Names of files are made from names of accounts; those hold no slash, and a dot in front is written `%2e`. */
export const ownerFile = (dataDir: string, account: string): string =>
  join(dataDir, 'wake', `${canonical(account).replace(/^\./, '%2e')}.json`)

/** What is set up, or why it cannot be used; nothing of what stands in it. */
export function ownerDoors(dataDir: string, account: string): { doors: OwnerDoors } | { why: string } {
  const path = ownerFile(dataDir, account)
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return { doors: {} }
  if (process.platform !== 'win32' && (found.mode & 0o077) !== 0) return { why: 'others may read its file: chmod 600' }
  const text = readOwn(path, true)
  if (text === null) return { why: 'its file cannot be read' }
  try {
    const doors: unknown = JSON.parse(text)
    if (Value.Check(OwnerDoors, doors)) return { doors }
    return { why: `its file is not understood at ${Value.Errors(OwnerDoors, doors).First()?.path || 'the top'}` }
  } catch {
    return { why: 'its file is no JSON' }
  }
}

export const NOTHING = 'nothing is set up'

/** One door of it; a text says why there is none. */
export function ownerDoor<N extends keyof OwnerDoors>(
  dataDir: string,
  account: string,
  name: N,
): NonNullable<OwnerDoors[N]> | string {
  const found = ownerDoors(dataDir, account)
  if ('why' in found) return found.why
  return found.doors[name] ?? NOTHING
}
