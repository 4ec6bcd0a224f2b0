// Small files of clients and of the owner: read whole, bounded, and never where somebody else could have put them.
import { closeSync, constants, fstatSync, openSync, readdirSync, readSync } from 'node:fs'

const MOST = 65_536

/** The text of a regular file of this user, at most 64 KiB of it; null where there is none. `secret`: nobody else may read it. */
export function readOwn(path: string, secret = false): string | null {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  } catch {
    return null
  }
  try {
    const found = fstatSync(fd)
    if (!found.isFile() || (process.geteuid !== undefined && found.uid !== process.geteuid())) return null
    if (secret && process.platform !== 'win32' && (found.mode & 0o077) !== 0) return null
    const bytes = Buffer.alloc(Math.min(MOST, Math.max(1, found.size)))
    return bytes.toString('utf8', 0, readSync(fd, bytes))
  } catch {
    return null
  } finally {
    closeSync(fd)
  }
}

export type JsonObject = Readonly<Record<string, unknown>>

/** A file that holds one JSON object; null where it does not, or is being written just now. */
export function readRecord(path: string, secret = false): JsonObject | null {
  const text = readOwn(path, secret)
  if (text === null) return null
  try {
    const found: unknown = JSON.parse(text)
    return typeof found === 'object' && found !== null && !Array.isArray(found) ? { ...found } : null
  } catch {
    return null
  }
}

export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

export const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
