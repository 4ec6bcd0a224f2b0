// Putting a backup in the place of the store: verified first, the old one kept beside it, a new epoch so that old cursors are refused.
import { Database } from 'bun:sqlite'
import { chmodSync, copyFileSync, existsSync, linkSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Refusal } from '../wire/refusal.ts'
import { lock } from './lock.ts'
import { MIGRATIONS } from './schema.ts'

/**
 * Needs a data folder that no daemon runs on.
 * @returns the path under which the replaced store was kept, or null if there was none
 * @throws Refusal `already_running`, `damaged_store`, `newer_store`
 */
export function restore(backup: string, path: string): string | null {
  const held = lock(join(dirname(path), 'lock'))
  try {
    const fresh = `${path}.restoring`
    copyFileSync(backup, fresh)
    chmodSync(fresh, 0o600) // a copy on another disk may be open to others
    makeOwn(fresh)
    const kept = existsSync(path) ? `${path}.before-restore-${Date.now()}` : null
    if (kept) setAside(path, kept)
    renameSync(fresh, path)
    return kept
  } finally {
    held.release()
  }
}

/**
 * Gives the store a second name. What a killed mailbox left in the log moves into it first; a damaged store takes its log
 * along. No log may stay: SQLite would apply it to whatever lies at `path`. The name itself stays until it is replaced, so
 * that a crash never leaves a folder without a store.
 */
function setAside(path: string, kept: string): void {
  const db = new Database(path, { readwrite: true })
  try {
    db.run('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // damaged: that is why it is replaced
  } finally {
    db.close()
  }
  if (existsSync(`${path}-wal`)) renameSync(`${path}-wal`, `${kept}-wal`)
  rmSync(`${path}-shm`, { force: true })
  linkSync(path, kept)
}

/** Checks the copy and gives it an epoch of its own; the search index sees the new epoch and is made again. */
function makeOwn(copy: string): void {
  const db = new Database(copy, { readwrite: true })
  try {
    // one file to rename, no log beside it
    db.run('PRAGMA journal_mode = DELETE')
    const check = db.query<{ integrity_check: string }, []>('PRAGMA integrity_check(1)').get()?.integrity_check
    if (check !== 'ok') throw unusable(`the backup is damaged: ${check ?? 'unreadable'}`)
    const version = db.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version ?? 0
    if (version < 1) throw unusable('the file is no backup of a mailbox')
    if (version > MIGRATIONS.length)
      throw new Refusal('newer_store', `the backup has schema ${version}, this mail4agent knows ${MIGRATIONS.length}`)
    const epoch = Buffer.from(crypto.getRandomValues(new Uint8Array(4))).toString('hex')
    db.run("UPDATE meta SET value = ? WHERE key = 'epoch'", [epoch])
  } catch (error) {
    rmSync(copy, { force: true })
    if (error instanceof Refusal) throw error
    const why = error instanceof Error ? error.message : 'unknown'
    throw unusable(
      /not a database|no such table/.test(why)
        ? 'the file is no backup of a mailbox'
        : `the backup cannot be read: ${why}`,
    )
  } finally {
    db.close()
  }
}

const unusable = (message: string): Refusal =>
  new Refusal(
    'damaged_store',
    message,
    {},
    'name a file that mail4agent admin backup has written; the mailbox is as it was',
  )
