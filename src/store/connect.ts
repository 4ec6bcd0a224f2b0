// Opening a SQLite file the way the mailbox needs it: WAL, fsync at every commit, a small cache, and a version that has FTS5.
import { Database } from 'bun:sqlite'
import { Refusal } from '../wire/refusal.ts'

/** Pages of cache per connection: measured, more is no faster (16 MiB). */
const CACHE_KIB = 16_384
export const SMALL_CACHE_KIB = 2_048

export type Durability = 'FULL' | 'NORMAL'

/**
 * A connection. `FULL` waits for the disk at each commit; on macOS that needs fullfsync too, since fsync there does not.
 * Automatic checkpoints are off: checkpoint.ts does them away from the commits.
 */
export function connect(path: string, durability: Durability, readonly = false, cacheKib = CACHE_KIB): Database {
  const db = readonly ? new Database(path, { readonly: true }) : new Database(path, { create: true, readwrite: true })
  db.run('PRAGMA busy_timeout = 5000')
  if (!readonly && path !== ':memory:') db.run('PRAGMA journal_mode = WAL')
  db.run(`PRAGMA synchronous = ${durability}`)
  if (process.platform === 'darwin') {
    db.run('PRAGMA fullfsync = 1')
    db.run('PRAGMA checkpoint_fullfsync = 1')
  }
  db.run('PRAGMA wal_autocheckpoint = 0')
  db.run(`PRAGMA cache_size = -${cacheKib}`)
  db.run('PRAGMA temp_store = MEMORY')
  return db
}

/** Version of the SQLite in use; refuses one that is too old or lacks FTS5 (macOS may bring its own). */
export function checkSqlite(db: Database): string {
  const row = db
    .query<{ v: string; fts: number }, []>("SELECT sqlite_version() v, sqlite_compileoption_used('ENABLE_FTS5') fts")
    .get()
  const version = row?.v ?? '0'
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major < 3 || minor < 43 || !row?.fts)
    throw new Refusal('store_unavailable', `SQLite ${version} lacks what the store needs (3.43 or newer, with FTS5)`, {
      operation: 'open',
    })
  return version
}
