// Brings a store to the newest schema: one transaction per step, a copy kept before, a newer store refused by name.
import type { Database } from 'bun:sqlite'
import { existsSync, renameSync, rmSync } from 'node:fs'
import { Refusal } from '../wire/refusal.ts'
import { MIGRATIONS } from './schema.ts'

/**
 * `path` is where copies go; null for a store in memory.
 * @throws Refusal `newer_store` when a newer mail4agent wrote it
 */
export function migrate(db: Database, path: string | null): void {
  const version = db.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version ?? 0
  if (version > MIGRATIONS.length)
    throw new Refusal('newer_store', `the store has schema ${version}, this mail4agent knows ${MIGRATIONS.length}`, {
      found: version,
      known: MIGRATIONS.length,
    })
  if (version === MIGRATIONS.length) return
  if (version > 0 && path !== null) keepCopy(db, `${path}.before-schema-${MIGRATIONS.length}`)
  for (const [index, sql] of MIGRATIONS.entries()) {
    if (index < version) continue
    db.run('BEGIN EXCLUSIVE')
    try {
      db.run(sql)
      db.run(`PRAGMA user_version = ${index + 1}`)
      db.run('COMMIT')
    } catch (error) {
      if (db.inTransaction) db.run('ROLLBACK') // a full disk has ended it already
      throw error
    }
  }
}

function keepCopy(db: Database, copy: string): void {
  if (existsSync(copy)) return
  // under its name there is a whole copy or none, also when the disk is full or we are killed meanwhile
  const draft = `${copy}.new`
  rmSync(draft, { force: true })
  db.run('VACUUM INTO ?', [draft])
  renameSync(draft, copy)
}
