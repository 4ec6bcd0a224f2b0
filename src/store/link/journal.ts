// The crypto store on the disk: the final state of each IndexedDB transaction, committed in one SQLite transaction.
import type { Database } from 'bun:sqlite'

export const JOURNAL_SCHEMA = `
  CREATE TABLE IF NOT EXISTS crypto_base(name TEXT PRIMARY KEY, version INTEGER NOT NULL, shape TEXT NOT NULL) WITHOUT ROWID, STRICT;
  CREATE TABLE IF NOT EXISTS crypto_record(
    base TEXT NOT NULL, store TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY(base, store, key)) WITHOUT ROWID, STRICT;
`

export type Base = { name: string; version: number; shape: string }
/** Key and value as tagged JSON; a value of null deletes. */
export type Change = { store: string; key: string; value: string | null }
export type Stored = { store: string; key: string; value: string }

export class Journal {
  readonly #db
  readonly #put
  readonly #delete
  readonly #putBase

  constructor(db: Database) {
    this.#db = db
    this.#put = db.prepare(
      'INSERT INTO crypto_record(base, store, key, value) VALUES(?, ?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
    )
    this.#delete = db.prepare('DELETE FROM crypto_record WHERE base = ? AND store = ? AND key = ?')
    this.#putBase = db.prepare('INSERT OR REPLACE INTO crypto_base(name, version, shape) VALUES(?, ?, ?)')
  }

  bases(): Base[] {
    return this.#db.query<Base, []>('SELECT name, version, shape FROM crypto_base').all()
  }

  records(base: string): Stored[] {
    return this.#db.query<Stored, [string]>('SELECT store, key, value FROM crypto_record WHERE base = ?').all(base)
  }

  /** On the disk when it returns. `whole`: the base got another shape, and these are all its records. */
  commit(base: string, changes: readonly Change[], whole: Base | null): void {
    this.#db
      .transaction(() => {
        if (whole) {
          this.#putBase.run(whole.name, whole.version, whole.shape)
          this.#db.run('DELETE FROM crypto_record WHERE base = ?', [base])
        }
        for (const { store, key, value } of changes)
          if (value === null) this.#delete.run(base, store, key)
          else this.#put.run(base, store, key, value)
      })
      .immediate()
  }

  drop(base: string): void {
    this.#db
      .transaction(() => {
        this.#db.run('DELETE FROM crypto_record WHERE base = ?', [base])
        this.#db.run('DELETE FROM crypto_base WHERE name = ?', [base])
      })
      .immediate()
  }
}
