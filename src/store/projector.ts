// The search index: a projection of the messages into its own file, behind them by at most what is not indexed yet, rebuilt at will.
import type { Database } from 'bun:sqlite'
import { rmSync } from 'node:fs'
import { connect } from './connect.ts'
import { isDamage } from './disk.ts'
import { KIND, type Kind } from './rows.ts'
import { SEARCH_SCHEMA, SEARCH_VERSION } from './schema.ts'
import { type Reached, Tally } from './tally.ts'

type Row = { id: number; account: number; scope: number; created: number; recipients: string; json: string }

/** Tokens of column `who`: `b<box>` for each box that holds a copy, `a<account>` where all sessions of the sender may see it. */
export const boxToken = (box: number): string => `b${box}`
export const accountToken = (account: number): string => `a${account}`

/** It is the letters that cannot be read, not the index. Says what SQLite says of such a file. */
export class LettersDamaged extends Error {}

/** @throws LettersDamaged */
function letters<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof Error && isDamage(error.message)) throw new LettersDamaged(error.message)
    if (error instanceof SyntaxError) throw new LettersDamaged('database disk image is malformed: a letter is no JSON')
    throw error
  }
}

export class Projector {
  readonly #index: Database
  readonly #rows
  readonly #released
  readonly #accountBox
  readonly #insert
  readonly #forget
  readonly #progress
  readonly #gone
  readonly #forgotten
  readonly #tally: Tally
  #at: number
  #goneAt: number

  /** `mail` is a connection to the store; `path` the index's file, remade when it is not readable or of another epoch. */
  constructor(mail: Database, path: string, epoch: string) {
    this.#index = openIndex(path, epoch)
    this.#at = this.#index.query<{ id: number }, []>('SELECT id FROM progress').get()?.id ?? 0
    this.#goneAt = this.#index.query<{ id: number }, []>('SELECT id FROM forgotten').get()?.id ?? 0
    this.#gone = mail.prepare<{ id: number; message: number }, [number, number]>(
      'SELECT id, message FROM gone WHERE id > ? ORDER BY id LIMIT ?',
    )
    this.#forgotten = this.#index.prepare('INSERT OR REPLACE INTO forgotten VALUES(1, ?)')
    this.#rows = mail.prepare<Row, [number, number]>(
      'SELECT id, account, scope, created, recipients, json FROM message WHERE id > ? ORDER BY id LIMIT ?',
    )
    this.#released = mail.prepare<Row & { event: number }, [number, number]>(
      `SELECT e.id AS event, m.id, m.account, m.scope, m.created, m.recipients, m.json
       FROM event e JOIN message m ON m.id = e.message WHERE e.id > ? AND e.id <= ? AND e.kind = 'released' ORDER BY e.id`,
    )
    this.#accountBox = mail.prepare<{ box: number }, [number, number]>(
      'SELECT a.box FROM account a JOIN delivery d ON d.box = a.box WHERE a.id = ? AND d.closed IN (0, 1) AND d.id = ?',
    )
    this.#insert = this.#index.prepare('INSERT INTO letter(rowid, subject, body, who) VALUES(?, ?, ?, ?)')
    this.#forget = this.#index.prepare('DELETE FROM letter WHERE rowid = ?')
    this.#tally = new Tally(this.#index)
    this.#progress = this.#index.prepare('UPDATE progress SET id = ?')
  }

  get index(): Database {
    return this.#index
  }

  /** Indexes at most `limit` messages and forgets as many removed ones; returns how many, 0 when there are no more. */
  step(limit: number): number {
    return this.#follow(limit) + this.#forgetGone(limit)
  }

  /** After what is new: a letter that was removed before it was indexed is no longer found there. */
  #forgetGone(limit: number): number {
    const rows = letters(() => this.#gone.all(this.#goneAt, limit))
    const last = rows.at(-1)
    if (!last) return 0
    this.#index.transaction(() => {
      for (const { message } of rows) this.#forget.run(message)
      this.#forgotten.run(last.id)
    })()
    this.#goneAt = last.id
    return rows.length
  }

  #follow(limit: number): number {
    const rows = letters(() => this.#rows.all(this.#at, limit))
    const upTo = rows.length < limit ? Number.MAX_SAFE_INTEGER : (rows.at(-1)?.id ?? 0)
    const released = letters(() => this.#released.all(this.#at, upTo))
    const last = Math.max(rows.at(-1)?.id ?? 0, released.at(-1)?.event ?? 0)
    if (last === 0) return 0
    this.#index.transaction(() => {
      this.#tally.begin()
      for (const row of rows) this.#tally.count(row, this.#add(row))
      this.#tally.write()
      for (const row of released) {
        this.#forget.run(row.id)
        this.#add(row)
      }
      this.#progress.run(last)
    })()
    this.#at = last
    return rows.length + released.length
  }

  /** Returns the account and the room, 0 for none, of each copy. */
  #add(row: Row): Reached[] {
    const { subject, body } = letters(() => JSON.parse(`{${row.json}}`) as { subject: string; body: string })
    const recipients = letters(() => JSON.parse(row.recipients) as [string, Kind, number, number, number][])
    const who = recipients.map(([, , box]) => boxToken(box))
    // a letter of an ended session may have been released to its account since
    for (const [, kind, , account] of recipients)
      if (kind === KIND.session)
        for (const { box } of letters(() => this.#accountBox.all(account, row.id))) who.push(boxToken(box))
    who.push(row.scope === 0 ? accountToken(row.account) : boxToken(row.scope))
    this.#insert.run(row.id, subject, body, who.join(' '))
    return recipients.map(([, kind, , account, room]) => ({ account, room: kind === KIND.room ? room : 0 }))
  }

  close(): void {
    this.#index.close()
  }
}

/** Nothing is lost with it: it is made again from the messages. */
export function forgetIndex(path: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true })
}

function openIndex(path: string, epoch: string): Database {
  try {
    return prepare(connect(path, 'NORMAL'), epoch)
  } catch {
    forgetIndex(path)
    return prepare(connect(path, 'NORMAL'), epoch)
  }
}

function prepare(index: Database, epoch: string): Database {
  const version = index.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version ?? 0
  const used = index.query("SELECT 1 FROM sqlite_schema WHERE name = 'progress'").get() !== null
  if (used && version !== SEARCH_VERSION) throw new Error(`search index of form ${version}`)
  index.run('PRAGMA wal_autocheckpoint = 4000')
  index.run(SEARCH_SCHEMA)
  index.run(`PRAGMA user_version = ${SEARCH_VERSION}`)
  const row = index.query<{ epoch: string }, []>('SELECT epoch FROM progress').get()
  if (row && row.epoch !== epoch)
    index.run("DELETE FROM progress; DELETE FROM traffic; INSERT INTO letter(letter) VALUES('delete-all')")
  index.run('INSERT OR IGNORE INTO progress VALUES(1, 0, ?)', [epoch])
  return index
}
