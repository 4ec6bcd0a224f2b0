// Reading the registry's tables into rows, at start and for sessions that are no longer in memory.
import type { Database } from 'bun:sqlite'
import type { Declared } from '../wire/card.ts'
import type { AccountRow, Claim, ListenerRow, RoomRow, SessionRow } from './rows.ts'

type SessionColumns = Omit<SessionRow, 'instance' | 'attested' | 'corroborated' | 'declared'> & {
  instance: string
  attested: string
  corroborated: string
  declared: string
}

export const SESSION_COLUMNS = `id, account, name, box, instance, conversation, attested, corroborated, declared,
  first_seen AS firstSeen, last_seen AS lastSeen, ended, successor, given, opened, told`

/** The JSON columns were written by this program from these very types. */
export function sessionRow(row: SessionColumns): SessionRow {
  return {
    ...row,
    instance: JSON.parse(row.instance),
    attested: JSON.parse(row.attested),
    corroborated: JSON.parse(row.corroborated),
    declared: JSON.parse(row.declared) as Declared,
  }
}

/** Names are `s-` and lower-case hex digits: all that begin with a prefix lie below the prefix with a `g` behind it. */
export const BY_PREFIX = "account = ?1 AND name >= ?2 AND name < ?2 || 'g' ORDER BY name LIMIT ?3"

export const selectSession = (db: Database, where: string) =>
  db.prepare<SessionColumns, (string | number)[]>(`SELECT ${SESSION_COLUMNS} FROM session WHERE ${where}`)

type AccountColumns = Omit<AccountRow, 'can'> & { can: string }
const all = <Row>(db: Database, sql: string): Row[] => db.query<Row, []>(sql).all()

/** Removed accounts and rooms too are looked up by id in old letters, but not loaded: their names are in the letters. */
export function loadRegistry(db: Database): {
  accounts: AccountRow[]
  rooms: RoomRow[]
  members: { room: number; account: number }[]
  sessions: SessionRow[]
  listeners: ListenerRow[]
  claims: Claim[]
} {
  const accounts = all<AccountColumns>(
    db,
    'SELECT id, name, label, kind, can, digest, box, created FROM account WHERE removed IS NULL',
  )
  const listeners = all<Omit<ListenerRow, 'coalesce'> & { coalesce: number }>(
    db,
    'SELECT account, url, key, coalesce, created FROM listener',
  )
  return {
    accounts: accounts.map((row) => ({ ...row, can: JSON.parse(row.can) })),
    rooms: all<RoomRow>(db, 'SELECT id, name, label, created FROM room WHERE removed IS NULL'),
    members: all(db, 'SELECT room, account FROM member'),
    sessions: selectSession(db, 'ended IS NULL').all().map(sessionRow),
    listeners: listeners.map((row) => ({ ...row, coalesce: row.coalesce === 1 })),
    claims: all<Claim>(db, 'SELECT box, id, session, until FROM claim'),
  }
}
