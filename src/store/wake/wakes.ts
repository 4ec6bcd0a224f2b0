// Wakes in the store. A policy is read from the disk each time: what is decided by it must not be older than it is.
import type { Database } from 'bun:sqlite'
import type { Queue } from '../queue.ts'
import type { Due, StoredPolicy, WakeRow } from './rows.ts'

type Stored = Omit<WakeRow, 'tried'> & { tried: string }

export class Wakes {
  readonly #queue: () => Queue
  readonly #policy
  readonly #log
  readonly #dues

  constructor(db: Database, queue: () => Queue) {
    this.#queue = queue
    this.#policy = db.prepare<StoredPolicy, [number]>('SELECT policy, changed FROM wake_policy WHERE box = ?')
    this.#log = db.prepare<Stored, [number, number]>(
      'SELECT id, box, message, count, outcome, door, at, ms, tried FROM wake WHERE box = ? ORDER BY id DESC LIMIT ?',
    )
    this.#dues = db.prepare<{ box: number; first: number; refused: string }, []>(
      'SELECT box, first, refused FROM wake_due',
    )
  }

  /** That of a mailbox, an account's or a session's; null where none was set. */
  policy = (box: number): StoredPolicy | null => this.#policy.get(box) ?? null

  /** Null: as if none had ever been set. */
  setPolicy(box: number, policy: string | null): Promise<void> {
    return this.#queue().submit({ k: 'wakePolicy', box, policy, at: Date.now() }, () => {})
  }

  /** Newest first. */
  log = (box: number, limit: number): WakeRow[] =>
    this.#log.all(box, limit).map((row) => ({ ...row, tried: JSON.parse(row.tried) }))

  addLog(row: Omit<WakeRow, 'id'>): Promise<void> {
    return this.#queue().submit({ k: 'wakeLogged', row }, () => {})
  }

  dues = (): Due[] => this.#dues.all().map((row) => ({ ...row, refused: JSON.parse(row.refused) }))

  setDue(due: Due): Promise<void> {
    return this.#queue().submit({ k: 'wakeDue', due }, () => {})
  }

  notDue(box: number): Promise<void> {
    return this.#queue().submit({ k: 'wakeNotDue', box }, () => {})
  }
}
