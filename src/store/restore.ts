// Putting a backup in the place of the store: verified first, the old one kept beside it, a new epoch so that old cursors are refused.
import { Database } from 'bun:sqlite'
import { chmodSync, copyFileSync, existsSync, linkSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Refusal } from '../wire/refusal.ts'
import { diskRefusal } from './disk.ts'
import { lock } from './lock.ts'
import { tornLog } from './torn-log.ts'
import { TooNew, type Verified, verify, verifyFile } from './verify.ts'

/**
 * Needs a data folder that no daemon runs on.
 * @returns what the backup holds, and the path under which the replaced store was kept, or null if there was none
 * @throws Refusal `already_running`, `damaged_store`, `newer_store`
 */
export function restore(backup: string, path: string): Verified & { kept: string | null } {
  const held = lock(join(dirname(path), 'lock'))
  try {
    const fresh = `${path}.restoring`
    copy(backup, fresh)
    const found = makeOwn(fresh)
    const kept = existsSync(path) ? `${path}.before-restore-${Date.now()}` : null
    if (kept) setAside(path, kept)
    renameSync(fresh, path)
    return { ...found, kept }
  } finally {
    held.release()
  }
}

/** @throws Refusal `store_unavailable`, `bad_permissions`; nothing is left then */
function copy(backup: string, fresh: string): void {
  try {
    rmSync(fresh, { force: true }) // of a restore that was ended by force
    copyFileSync(backup, fresh)
    chmodSync(fresh, 0o600) // a copy on another disk may be open to others
  } catch (error) {
    rmSync(fresh, { force: true })
    throw diskRefusal(error, fresh) ?? error
  }
}

/**
 * Gives the store a second name. What a killed mailbox left in the log moves into it first; a damaged store takes its log
 * along. No log may stay: SQLite would apply it to whatever lies at `path`. The name itself stays until it is replaced, so
 * that a crash never leaves a folder without a store.
 */
function setAside(path: string, kept: string): void {
  if (tornLog(`${path}-wal`) === null) moveLogInto(path)
  if (existsSync(`${path}-wal`)) renameSync(`${path}-wal`, `${kept}-wal`)
  rmSync(`${path}-shm`, { force: true })
  linkSync(path, kept)
}

function moveLogInto(path: string): void {
  const db = new Database(path, { readwrite: true })
  try {
    db.run('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // damaged: that is why it is replaced
  } finally {
    db.close()
  }
}

/** Checks the copy and gives it an epoch of its own; the search index sees the new epoch and is made again. */
function makeOwn(copy: string): Verified {
  try {
    const db = new Database(copy, { readwrite: true })
    try {
      // one file to rename, no log beside it
      db.run('PRAGMA journal_mode = DELETE')
      const found = verify(db)
      const epoch = Buffer.from(crypto.getRandomValues(new Uint8Array(4))).toString('hex')
      db.run("UPDATE meta SET value = ? WHERE key = 'epoch'", [epoch])
      return found
    } finally {
      db.close()
    }
  } catch (error) {
    rmSync(copy, { force: true })
    throw unusable(error)
  }
}

/**
 * What a backup holds, without touching anything: also while a mailbox runs.
 * @throws Refusal `damaged_store`, `newer_store`
 */
export function checkBackup(backup: string): Verified {
  try {
    return verifyFile(backup)
  } catch (error) {
    throw unusable(error)
  }
}

function unusable(error: unknown): Refusal {
  const why = error instanceof Error ? error.message : 'unknown'
  if (error instanceof TooNew) return new Refusal('newer_store', `the backup cannot be used: ${why}`)
  const message = /not a database|no such table/.test(why)
    ? 'the file is no backup of a mailbox'
    : `the backup cannot be used: ${why}`
  const hint = 'name a file that mail4agent admin backup has written; the mailbox is as it was'
  return new Refusal('damaged_store', message, {}, hint)
}
