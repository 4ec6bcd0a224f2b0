// Reads of what is kept: closed mail newest first, every message in order, single copies, and what was imported.
import type { Database, Statement } from 'bun:sqlite'
import { DELIVERY_COLUMNS } from '../jobs/context.ts'
import type { RawCopy } from '../keeping/keeping.ts'
import { KIND, type MessageRow, type PageRow } from '../rows.ts'
import { type Columns, MESSAGE_COLUMNS as MESSAGE, messageRow } from './messages.ts'

const MESSAGE_COLUMNS = `d.box, d.closed, d.id, d.kind, d.room, d.notified, d.opened, d.opened_by AS openedBy, d.closed_at AS closedAt,
  d.closed_by AS closedBy, d.reason, d.updates, m.sender_box AS senderBox, m.created`

/** Bounds: box, before, the reader's own box, limit. As in a page, what is no mail to the reader comes without its letter. */
const walk = (without: string) => `SELECT ${MESSAGE_COLUMNS},
  CASE WHEN (d.kind = 2 AND m.sender_box = ?3) ${without} THEN '' ELSE m.json END AS json
  FROM delivery d JOIN message m ON m.id = d.id WHERE d.box = ?1 AND d.closed = 1 AND d.id < ?2 ORDER BY d.id DESC LIMIT ?4`

export const SQL = {
  own: walk(''),
  account: walk('OR EXISTS (SELECT 1 FROM delivery x WHERE x.box = ?3 AND x.closed IN (0, 1) AND x.id = d.id)'),
  messages: `SELECT ${MESSAGE} FROM message WHERE id > ? ORDER BY id LIMIT ?`,
  copy: `SELECT ${DELIVERY_COLUMNS} FROM delivery WHERE box = ? AND closed IN (0, 1, 2) AND id = ?`,
  imported: 'SELECT id FROM imported WHERE key = ?',
  importedThread: 'SELECT thread AS id FROM imported_thread WHERE key = ?',
} as const

type Walk = Statement<PageRow, [number, number, number, number]>
/** Rows read at once: letters may be long. */
const SLICE = 32

export class ArchiveReads {
  readonly #own: Walk
  readonly #account: Walk
  readonly #messages
  readonly #copy
  readonly #imported
  readonly #importedThread

  constructor(db: Database) {
    this.#own = db.prepare(SQL.own)
    this.#account = db.prepare(SQL.account)
    this.#messages = db.prepare<Columns, [number, number]>(SQL.messages)
    this.#copy = db.prepare<RawCopy, [number, number]>(SQL.copy)
    this.#imported = db.prepare<{ id: number }, [string]>(SQL.imported)
    this.#importedThread = db.prepare<{ id: number }, [string]>(SQL.importedThread)
  }

  /** Two walks that descend, merged; a letter that lies in both boxes is shown once, as the session's own. */
  *page(
    accountBox: number,
    sessionBox: number,
    before: number,
    isMember: (row: PageRow) => boolean,
  ): IterableIterator<PageRow> {
    const own = new Descent(this.#own, sessionBox, sessionBox, before)
    const account = new Descent(this.#account, accountBox, sessionBox, before)
    for (let last = 0; ; ) {
      const next = !account.head || (own.head && own.head.id >= account.head.id) ? own : account
      const row = next.head
      if (!row) return
      next.next()
      if (row.id !== last) yield row.kind !== KIND.room || isMember(row) ? row : { ...row, json: '' }
      last = row.id
    }
  }

  messages(after: number, limit: number): MessageRow[] {
    return this.#messages.all(after, limit).map(messageRow)
  }

  copy(box: number, id: number): RawCopy | null {
    return this.#copy.get(box, id)
  }

  imported(key: string): number | null {
    return this.#imported.get(key)?.id ?? null
  }

  importedThread(key: string): number | null {
    return this.#importedThread.get(key)?.id ?? null
  }
}

class Descent {
  #rows: PageRow[]
  #at = 0

  constructor(
    readonly walk: Walk,
    readonly box: number,
    readonly reader: number,
    before: number,
  ) {
    this.#rows = walk.all(box, before, reader, SLICE)
  }

  get head(): PageRow | undefined {
    return this.#rows[this.#at]
  }

  next(): void {
    const last = this.#rows[this.#at++]
    if (this.#at < this.#rows.length || !last || this.#rows.length < SLICE) return
    this.#rows = this.walk.all(this.box, last.id, this.reader, SLICE)
    this.#at = 0
  }
}
