// A store as an earlier mail4agent would have it: the tables and columns that it knew, with what this one wrote.
import { Database } from 'bun:sqlite'
import { renameSync, rmSync } from 'node:fs'
import { MIGRATIONS } from '../../src/store/schema.ts'

/** Rewrites the store at `path` as a mail4agent that knew only the first `version` migrations would have it. */
export function asOfSchema(path: string, version: number): void {
  const old = new Database(`${path}.old`, { create: true })
  for (const sql of MIGRATIONS.slice(0, version)) old.run(sql)
  old.run('ATTACH ? AS today', [path])
  const names = (sql: string) => old.query<{ name: string }, []>(sql).values().flat().map(String)
  for (const table of names("SELECT name FROM main.sqlite_master WHERE type = 'table' AND name <> 'sqlite_sequence'")) {
    const columns = names(`SELECT name FROM pragma_table_info('${table}', 'main')`).join(', ')
    old.run(`DELETE FROM main.${table}`)
    old.run(`INSERT INTO main.${table}(${columns}) SELECT ${columns} FROM today.${table}`)
  }
  old.run(`PRAGMA main.user_version = ${version}`)
  old.close()
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true })
  renameSync(`${path}.old`, path)
}
