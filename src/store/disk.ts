// What SQLite and the system say when it is the disk or its permissions, not the work, that is at fault.
import { accessSync, constants } from 'node:fs'
import { dirname } from 'node:path'
import { Refusal } from '../wire/refusal.ts'

/** SQLite's texts (sqlite3_errstr): of what a thread threw, nothing else comes over. */
const FULL = /database or disk is full|disk I\/O error/
const CLOSED = /attempt to write a readonly database|unable to open database file/

/** errno(3): of the files that are not SQLite's. */
const FULL_CODES = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO'])
const CLOSED_CODES = new Set(['EACCES', 'EPERM', 'EROFS'])

/** SQLITE_CORRUPT and SQLITE_NOTADB: what lies there is not what was written. */
const DAMAGED = /database disk image is malformed|malformed database schema|file is not a database|fts5: corrupt/

/** Does that say that the file itself is damaged? It stays so: nothing that is written into it can be relied on. */
export const isDamage = (reason: string): boolean => DAMAGED.test(reason)

/** Will the next write fail as well, whatever it is? */
export const isDiskFault = (reason: string): boolean => FULL.test(reason) || CLOSED.test(reason)

/**
 * What `error` says of the disk, as a refusal that names the file, or `path` where the error names none; null when it is about
 * something else. `bad_permissions` where we may not write, else `store_unavailable`; `instead`: what else the reader can do.
 */
export function diskRefusal(error: unknown, path: string, instead?: string): Refusal | null {
  if (!(error instanceof Error) || error instanceof Refusal) return null
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  // of a copy the system names the source first
  const named = 'dest' in error ? error.dest : 'path' in error ? error.path : null
  const file = typeof named === 'string' ? named : path
  const reason = error.message.split(', ')[0] // of a system error the rest is the call and the path
  if (CLOSED_CODES.has(code) || (CLOSED.test(error.message) && !mayWrite(dirname(file))))
    return new Refusal(
      'bad_permissions',
      `cannot write ${file}: ${reason}`,
      { path: file },
      instead ?? 'let the user of the mailbox write there',
    )
  if (FULL_CODES.has(code) || isDiskFault(error.message)) {
    const hint = instead === undefined ? 'make room there, and try again' : `make room there, or ${instead}`
    return new Refusal('store_unavailable', `cannot write ${file}: ${reason}`, { path: file }, hint)
  }
  return null
}

/** Also false on a file system that is mounted read-only: access(2). */
function mayWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}
