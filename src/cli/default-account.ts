// As whom a person's bare commands act: the file `default-account` in the data folder, written by `up`, one name.
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writePrivate } from '../door/folders.ts'
import { canonical } from '../wire/ids.ts'

export const defaultAccountPath = (dataDir: string): string => join(dataDir, 'default-account')

/** The name in the file, whatever it is; null where there is none. */
export function defaultAccount(dataDir: string): string | null {
  try {
    return readFileSync(defaultAccountPath(dataDir), 'utf8').slice(0, 4096).split('\n')[0]?.trim() || null
  } catch {
    return null
  }
}

/** Account names are of one mailbox, so it lies with that mailbox's tokens and not in the configuration of its user. */
export const setDefaultAccount = (dataDir: string, name: string): void =>
  writePrivate(defaultAccountPath(dataDir), `${name}\n`)

/** Of an account that is no more. */
export function forgetDefault(dataDir: string, name: string): void {
  const usual = defaultAccount(dataDir)
  if (usual !== null && canonical(usual) === canonical(name)) rmSync(defaultAccountPath(dataDir), { force: true })
}
