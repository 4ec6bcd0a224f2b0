// Reads of messages and their copies: by id, sent, thread. Every list is a bounded walk of one index.
import type { Database } from 'bun:sqlite'
import { DELIVERY_COLUMNS } from '../jobs/context.ts'
import { SENT_REACHED } from '../jobs/sent-index.ts'
import { recipientsOf } from '../recipients.ts'
import type { DeliveryRow, MessageRow } from '../rows.ts'

export type Columns = Omit<MessageRow, 'recipients'> & { recipients: string }

const FIXED = 'id, random, account, sender_box AS senderBox, scope, thread, parent, created, hop'
const OWN = `${FIXED.replace('account', 'm.account')}, iif(own, recipients, '[]') AS recipients, iif(own, json, '') AS json`
export const MESSAGE_COLUMNS = `${FIXED}, recipients, json`

export const SQL = {
  message: `SELECT ${MESSAGE_COLUMNS} FROM message WHERE id = ?`,
  delivery: `SELECT ${DELIVERY_COLUMNS} FROM delivery WHERE box = ? AND closed IN (0, 1) AND id = ?`,
  /** Up to which message `sent` knows. */
  indexed: SENT_REACHED,
  /** Those that are not indexed yet. Bounds: account, before, scopes as a JSON array, indexed. The text of other scopes is not even read. */
  sentLately: `SELECT ${OWN} FROM (SELECT *, scope IN (SELECT value FROM json_each(?3)) AS own FROM message) m
    WHERE id > ?4 AND id < ?2 AND account = ?1 ORDER BY id DESC`,
  sent: `SELECT ${OWN} FROM sent CROSS JOIN (SELECT *, scope IN (SELECT value FROM json_each(?3)) AS own FROM message) m USING (id)
    WHERE sent.account = ?1 AND sent.id < ?2 AND sent.id <= ?4 ORDER BY sent.id DESC`,
  /** A key whose message has been removed is free again. */
  keyed: 'SELECT i.id, i.hash FROM idempotency i JOIN message m ON m.id = i.id WHERE i.account = ? AND i.key = ?',
  thread: `SELECT ${MESSAGE_COLUMNS} FROM message WHERE thread = ? AND parent IS NOT NULL AND id > ? ORDER BY id`,
} as const

export const messageRow = (row: Columns): MessageRow => ({ ...row, recipients: recipientsOf(row.recipients) })

export class MessageReads {
  readonly #message
  readonly #delivery
  readonly #indexed
  readonly #sent
  readonly #sentLately
  readonly #thread
  readonly #keyed

  constructor(db: Database) {
    this.#message = db.prepare<Columns, [number]>(SQL.message)
    this.#delivery = db.prepare<DeliveryRow, [number, number]>(SQL.delivery)
    this.#indexed = db.prepare<{ id: number }, []>(SQL.indexed)
    this.#sent = db.prepare<Columns, [number, number, string, number]>(SQL.sent)
    this.#sentLately = db.prepare<Columns, [number, number, string, number]>(SQL.sentLately)
    this.#thread = db.prepare<Columns, [number, number]>(SQL.thread)
    this.#keyed = db.prepare<{ id: number; hash: string }, [number, string]>(SQL.keyed)
  }

  message(id: number): MessageRow | null {
    const row = this.#message.get(id)
    return row ? messageRow(row) : null
  }

  delivery(id: number, boxes: readonly number[]): DeliveryRow | null {
    for (const box of boxes) {
      const row = this.#delivery.get(box, id)
      if (row) return row
    }
    return null
  }

  keyed(account: number, key: string): { id: number; hash: string } | null {
    return this.#keyed.get(account, key)
  }

  /** What is of another scope comes without its letter, so that the reader can count what it has looked at. */
  *sent(account: number, scopes: readonly number[], before: number): IterableIterator<MessageRow> {
    const indexed = this.#indexed.get()?.id ?? 0
    const own = JSON.stringify(scopes)
    for (const row of this.#sentLately.iterate(account, before, own, indexed)) yield messageRow(row)
    for (const row of this.#sent.iterate(account, before, own, indexed)) yield messageRow(row)
  }

  /** The thread's first message is found by its id, the replies by the thread's index. */
  *thread(thread: number, after: number): IterableIterator<MessageRow> {
    const root = thread > after ? this.message(thread) : null
    if (root) yield root
    for (const row of this.#thread.iterate(thread, after)) yield messageRow(row)
  }
}
