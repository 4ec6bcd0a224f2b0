// One daemon per data folder: an exclusive lock that the kernel gives back when its process ends, however it ends.
import { Database } from 'bun:sqlite'
import { Refusal } from '../wire/refusal.ts'

/**
 * Takes the lock on `path` (a SQLite file of its own; SQLite's file locks work on every platform and die with the process).
 * @throws Refusal `already_running`
 */
export function lock(path: string): { release(): void } {
  const db = new Database(path, { create: true, readwrite: true })
  try {
    db.run('PRAGMA busy_timeout = 0')
    db.run('BEGIN EXCLUSIVE')
  } catch (error) {
    db.close()
    if (error instanceof Error && /locked|busy/i.test(error.message))
      throw new Refusal('already_running', 'another mailbox holds this data folder', { lock: path })
    throw error
  }
  return {
    release() {
      db.run('ROLLBACK')
      db.close()
    },
  }
}

/** Does a mailbox hold the lock on `path`? Takes nothing and makes nothing. */
export function isLocked(path: string): boolean {
  let db: Database
  try {
    db = new Database(path, { readonly: true })
  } catch {
    return false // there is none
  }
  try {
    db.run('PRAGMA busy_timeout = 0')
    db.query('SELECT 1 FROM sqlite_schema').get()
    return false
  } catch (error) {
    return error instanceof Error && /locked|busy/i.test(error.message)
  } finally {
    db.close()
  }
}
