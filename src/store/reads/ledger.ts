// What an operator looks through: any box and all messages, newest first. Every list is a bounded walk of one key.
import type { Database, Statement } from 'bun:sqlite'
import { DELIVERY_COLUMNS } from '../jobs/context.ts'
import { SENT_REACHED } from '../jobs/sent-index.ts'
import type { DeliveryRow, MessageRow } from '../rows.ts'
import { type Columns, MESSAGE_COLUMNS, messageRow } from './messages.ts'

/** Boxes of sessions that are looked through for one account: the newest. */
const SESSIONS = 200

export const SQL = {
  newest: `SELECT ${DELIVERY_COLUMNS} FROM delivery WHERE box = ? AND closed = ? AND id < ? ORDER BY id DESC LIMIT ?`,
  messages: `SELECT ${MESSAGE_COLUMNS} FROM message WHERE id < ? ORDER BY id DESC LIMIT ?`,
  /** Bounds: account, before, up to where the index of sent mail goes, limit. */
  sentLately: `SELECT ${MESSAGE_COLUMNS} FROM message WHERE id > ?3 AND id < ?2 AND account = ?1 ORDER BY id DESC LIMIT ?4`,
  sentBy: `SELECT ${MESSAGE_COLUMNS} FROM message
    WHERE id IN (SELECT id FROM sent WHERE account = ?1 AND id < ?2 AND id <= ?3 ORDER BY id DESC LIMIT ?4) ORDER BY id DESC`,
  boxes: `SELECT DISTINCT box FROM session WHERE account = ?1 ORDER BY id DESC LIMIT ${SESSIONS}`,
} as const

export interface Ledger {
  /** Deliveries of one box below `before`, newest first. `closed`: 0 not closed, 1 closed. */
  newest(box: number, closed: 0 | 1, before: number, limit: number): DeliveryRow[]
  /** Messages below `before`, newest first; of one sending account, or of all (null). */
  messages(account: number | null, before: number, limit: number): MessageRow[]
  /** Boxes of the account's sessions, also of those that have ended: the newest 200. */
  sessionBoxes(account: number): number[]
}

export class LedgerReads implements Ledger {
  readonly #newest: Statement<DeliveryRow, [number, number, number, number]>
  readonly #messages: Statement<Columns, [number, number]>
  readonly #indexed: Statement<{ id: number }, []>
  readonly #sentLately: Statement<Columns, [number, number, number, number]>
  readonly #sentBy: Statement<Columns, [number, number, number, number]>
  readonly #boxes: Statement<{ box: number }, [number]>

  constructor(db: Database) {
    this.#newest = db.prepare(SQL.newest)
    this.#messages = db.prepare(SQL.messages)
    this.#indexed = db.prepare(SENT_REACHED)
    this.#sentLately = db.prepare(SQL.sentLately)
    this.#sentBy = db.prepare(SQL.sentBy)
    this.#boxes = db.prepare(SQL.boxes)
  }

  newest(box: number, closed: 0 | 1, before: number, limit: number): DeliveryRow[] {
    return this.#newest.all(box, closed, before, limit)
  }

  messages(account: number | null, before: number, limit: number): MessageRow[] {
    const rows = account === null ? this.#messages.all(before, limit) : this.#sent(account, before, limit)
    return rows.map(messageRow)
  }

  /** First those that the index does not have yet. */
  #sent(account: number, before: number, limit: number): Columns[] {
    const indexed = this.#indexed.get()?.id ?? 0
    const rows = this.#sentLately.all(account, before, indexed, limit)
    if (rows.length < limit) rows.push(...this.#sentBy.all(account, before, indexed, limit - rows.length))
    return rows
  }

  sessionBoxes(account: number): number[] {
    return this.#boxes.all(account).map(({ box }) => box)
  }
}
