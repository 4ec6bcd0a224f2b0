// Brings a store to the newest schema: one transaction per step, a copy kept before, a newer store refused by name.
import type { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
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
      db.run('ROLLBACK')
      throw error
    }
  }
}

function keepCopy(db: Database, copy: string): void {
  if (!existsSync(copy)) db.run('VACUUM INTO ?', [copy])
}
