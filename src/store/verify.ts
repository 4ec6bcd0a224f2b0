// Is a file a whole store? SQLite's own check, what makes it ours, and that each copy has its letter.
import { Database } from 'bun:sqlite'
import { SQL as LOG } from './reads/log.ts'
import { MIGRATIONS } from './schema.ts'

export type Verified = {
  /** Of the schema. */
  version: number
  epoch: string
  /** The newest sequence in it. */
  head: number
  messages: number
  deliveries: number
  accounts: number
}

export class NotWhole extends Error {}
export class TooNew extends Error {}

/** @throws NotWhole, TooNew, or what SQLite says of a file that is none of its own */
export function verify(db: Database): Verified {
  const check = db.query<{ integrity_check: string }, []>('PRAGMA integrity_check(1)').get()?.integrity_check
  if (check !== 'ok') throw new NotWhole(`it is damaged: ${oneLine(check ?? 'unreadable')}`)
  const version = db.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version ?? 0
  if (version < 1) throw new NotWhole(NO_MAILBOX)
  if (version > MIGRATIONS.length)
    throw new TooNew(`it has schema ${version}, this mail4agent knows ${MIGRATIONS.length}`)
  const epoch = db.query<{ value: string }, []>("SELECT value FROM meta WHERE key = 'epoch'").get()?.value ?? ''
  if (!/^[0-9a-f]{8}$/.test(epoch)) throw new NotWhole(NO_MAILBOX)
  const count = (what: string) => db.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${what}`).get()?.n ?? 0
  const lost = count('delivery d WHERE NOT EXISTS (SELECT 1 FROM message m WHERE m.id = d.id)')
  if (lost > 0) throw new NotWhole(`the letters of ${lost} copies are missing in it`)
  const head = db.query<{ id: number }, []>(LOG.head).get()?.id ?? 0
  return {
    version,
    epoch,
    head,
    messages: count('message'),
    deliveries: count('delivery'),
    accounts: count('account WHERE removed IS NULL'),
  }
}

/** What SQLite found first: after a heading of stars it says one thing a line. */
export const oneLine = (report: string): string =>
  report
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('***'))
    .join('; ')

export const NO_MAILBOX = 'it is no backup of a mailbox'

/** Reads only. @throws as `verify` */
export function verifyFile(path: string): Verified {
  const db = new Database(path, { readonly: true })
  try {
    return verify(db)
  } finally {
    db.close()
  }
}
