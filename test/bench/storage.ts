// What lies in the store's file, read beside the daemon: for the checks that the figures are of durable sends.
import { Database } from 'bun:sqlite'
import { join } from 'node:path'

function reading<T>(dataDir: string, read: (db: Database) => T): T {
  const db = new Database(join(dataDir, 'mail.sqlite'), { readonly: true })
  try {
    return read(db)
  } finally {
    db.close()
  }
}

export const messageCount = (dataDir: string): number =>
  reading(dataDir, (db) => db.query<{ n: number }, []>('SELECT count(*) AS n FROM message').get()?.n ?? 0)

/** The ids of all messages, as they are shown. */
export const messageIds = (dataDir: string): Set<string> =>
  reading(dataDir, (db) => {
    const rows = db.query<{ id: number; random: string }, []>('SELECT id, random FROM message').all()
    return new Set(rows.map(({ id, random }) => `m4a_${id.toString(16).padStart(12, '0')}${random}`))
  })

export const journalMode = (dataDir: string): string =>
  reading(dataDir, (db) => db.query<{ journal_mode: string }, []>('PRAGMA journal_mode').get()?.journal_mode ?? '')

export const integrity = (dataDir: string): string =>
  reading(
    dataDir,
    (db) => db.query<{ integrity_check: string }, []>('PRAGMA integrity_check').get()?.integrity_check ?? '',
  )
