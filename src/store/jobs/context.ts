// What every write job shares: the connection, its prepared statements, and box counters gathered over a batch.
import type { Database, Statement } from 'bun:sqlite'
import type { CloseReason } from '../../wire/letter.ts'
import type { Cause, Outcome } from '../dispatch/rows.ts'
import type { DeliveryRow, DispatchEventKind, EventRow, MailEventKind } from '../rows.ts'
import { SentIndex } from './sent-index.ts'

export const DELIVERY_COLUMNS =
  'box, closed, id, kind, room, notified, opened, opened_by AS openedBy, closed_at AS closedAt, closed_by AS closedBy, reason, updates'

export class Context {
  readonly sent: SentIndex
  readonly #open = new Map<number, number>()
  readonly #own = new Map<number, number>()
  readonly #event: Statement
  readonly #dispatchEvent: Statement
  readonly #copy: Statement<DeliveryRow, [number, number]>
  readonly #count: Statement

  constructor(readonly db: Database) {
    this.sent = new SentIndex(db)
    this.#event = db.prepare(
      'INSERT INTO event(id, at, kind, message, account, session, reason) VALUES(?, ?, ?, ?, ?, ?, ?)',
    )
    this.#dispatchEvent = db.prepare(
      'INSERT INTO event(id, at, kind, message, account, reason, dispatch, attempt) VALUES(?, ?, ?, ?, ?, ?, ?, ?)',
    )
    this.#copy = db.prepare(`SELECT ${DELIVERY_COLUMNS} FROM delivery WHERE box = ? AND closed IN (0, 1) AND id = ?`)
    this.#count = db.prepare('UPDATE box SET open = open + ?, own = own + ? WHERE id = ?')
  }

  /** The copy of a message in one box, hidden ones not. */
  copy(box: number, id: number): DeliveryRow | null {
    return this.#copy.get(box, id) ?? null
  }

  /** `by` more (or less) copies in `box` that are not closed. */
  counted(box: number, by: number): void {
    this.#open.set(box, (this.#open.get(box) ?? 0) + by)
  }

  /** `by` more (or less) open room posts of the session with `box` in the box of its own account. */
  countedOwn(box: number, by: number): void {
    this.#own.set(box, (this.#own.get(box) ?? 0) + by)
  }

  event(
    id: number,
    at: number,
    kind: MailEventKind,
    message: number,
    account: number,
    session: number | null,
    reason: CloseReason | null,
  ): EventRow {
    this.#event.run(id, at, kind, message, account, session, reason)
    return { id, at, kind, message, account, session, reason, dispatch: null, attempt: null }
  }

  dispatchEvent(
    id: number,
    at: number,
    kind: DispatchEventKind,
    about: { dispatch: number; agent: number; message: number | null },
    attempt: number | null = null,
    reason: Cause | Outcome | null = null,
  ): EventRow {
    const { dispatch, agent: account, message } = about
    this.#dispatchEvent.run(id, at, kind, message ?? 0, account, reason, dispatch, attempt)
    return { id, at, kind, message: message ?? 0, account, session: null, reason, dispatch, attempt }
  }

  /** Writes the counters of this batch, and the index of what was sent; called once before each commit. */
  flush(): void {
    this.sent.flush()
    for (const box of new Set([...this.#open.keys(), ...this.#own.keys()]))
      this.#count.run(this.#open.get(box) ?? 0, this.#own.get(box) ?? 0, box)
  }

  committed(): void {
    this.sent.committed()
    this.#clear()
  }

  /** After a rollback nothing was counted. */
  forget(): void {
    this.sent.forget()
    this.#clear()
  }

  #clear(): void {
    this.#open.clear()
    this.#own.clear()
  }
}
