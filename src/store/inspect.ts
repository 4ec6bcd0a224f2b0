// Looking a store over without changing it: schema, integrity, and letters that lie in the future. For the doctor.
import { constants, Database } from 'bun:sqlite'
import { existsSync, statSync } from 'node:fs'
import { checkSqlite, connect } from './connect.ts'
import { MIGRATIONS } from './schema.ts'
import { tornLog } from './torn-log.ts'
import { oneLine } from './verify.ts'

export type StoreReport = {
  /** The schema of the store, and the newest that this program knows. */
  schema: number
  known: number
  /** `ok`, or the first thing that SQLite found (`PRAGMA quick_check`). */
  integrity: string
  bytes: number
  letters: number
  /** How many letters are dated after now, and the latest date, in milliseconds since the epoch; null: none is. */
  future: { count: number; latest: number } | null
}

/** Clocks of one machine differ by less between two looks at it, in milliseconds. */
const TOLERANCE = 60_000

/** Reads every page once. @throws what SQLite says of a file that is no database */
export function inspect(db: Database, bytes: number, now: number): StoreReport {
  const schema = db.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version ?? 0
  const found = db.query<{ quick_check: string }, []>('PRAGMA quick_check(1)').get()?.quick_check
  const integrity = oneLine(found ?? 'unreadable')
  // a newer or an empty store may have other tables
  const isKnown = schema > 0 && schema <= MIGRATIONS.length && integrity === 'ok'
  const report = { schema, known: MIGRATIONS.length, integrity, bytes, letters: 0, future: null }
  if (!isKnown) return report
  const letters = db.query<{ n: number }, []>('SELECT count(*) n FROM message').get()?.n ?? 0
  const late = db
    .query<{ n: number; latest: number | null }, [number]>(
      'SELECT count(*) n, max(created) latest FROM message WHERE created > ?',
    )
    .get(now + TOLERANCE)
  const future = late && late.latest !== null ? { count: late.n, latest: late.latest } : null
  return { ...report, letters, future }
}

/**
 * Inspects the store of a data folder that no mailbox runs on; nothing in the folder changes.
 * @throws what SQLite says of a file that is no database
 */
export function inspectFile(path: string, now: number): StoreReport {
  const torn = tornLog(`${path}-wal`)
  if (torn !== null) throw new Error(`the write-ahead log is damaged: ${torn}`)
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  // `immutable` makes no files beside the database, which a reader of a store in WAL mode else does: https://sqlite.org/uri.html
  const db =
    log > 0 || existsSync(`${path}-shm`)
      ? connect(path, 'FULL', true)
      : new Database(
          `file:${encodeURI(path).replaceAll('?', '%3f').replaceAll('#', '%23')}?immutable=1`,
          constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI,
        )
  try {
    return inspect(db, statSync(path).size + log, now)
  } finally {
    db.close()
  }
}

/** @throws Refusal `store_unavailable` when it is too old or has no FTS5 */
export function sqliteVersion(): string {
  const db = connect(':memory:', 'NORMAL')
  try {
    return checkSqlite(db)
  } finally {
    db.close()
  }
}
