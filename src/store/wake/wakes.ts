// Wakes in the store. A policy is read from the disk each time: what is decided by it must not be older than it is.
import type { Database } from 'bun:sqlite'
import type { Queue } from '../queue.ts'
import { type Due, isFailed, type StoredPolicy, type WakeRow } from './rows.ts'

/** As it is written down. */
export type NewWake = Omit<WakeRow, 'id'>
type Stored = Omit<WakeRow, 'tried'> & { tried: string }

export class Wakes {
  readonly #queue: () => Queue
  readonly #policy
  readonly #log
  readonly #dues
  readonly #failed: Map<number, NewWake>
  readonly #listeners = new Set<(row: NewWake) => void>()

  constructor(db: Database, queue: () => Queue) {
    this.#queue = queue
    this.#policy = db.prepare<StoredPolicy, [number]>('SELECT policy, changed FROM wake_policy WHERE box = ?')
    this.#log = db.prepare<Stored, [number, number]>(
      'SELECT id, box, message, count, outcome, door, at, ms, tried FROM wake WHERE box = ? ORDER BY id DESC LIMIT ?',
    )
    this.#dues = db.prepare<{ box: number; first: number; refused: string }, []>(
      'SELECT box, first, refused FROM wake_due',
    )
    const newest = db
      .query<Stored, []>(
        `SELECT id, box, message, count, outcome, door, at, ms, tried FROM wake
         WHERE id IN (SELECT max(id) FROM wake GROUP BY box) AND outcome IN ('refused', 'unknown', 'no_door')`,
      )
      .all()
    this.#failed = new Map(newest.map(parsed).flatMap((row) => (isFailed(row) ? [[row.box, row]] : [])))
  }

  /** That of a mailbox, an account's or a session's; null where none was set. */
  policy = (box: number): StoredPolicy | null => this.#policy.get(box) ?? null

  /** Null: as if none had ever been set. */
  setPolicy(box: number, policy: string | null): Promise<void> {
    return this.#queue().submit({ k: 'wakePolicy', box, policy, at: Date.now() }, () => {})
  }

  /** Newest first. */
  log = (box: number, limit: number): WakeRow[] => this.#log.all(box, limit).map(parsed)

  addLog(row: NewWake): Promise<void> {
    return this.#queue().submit({ k: 'wakeLogged', row }, () => {
      if (isFailed(row)) this.#failed.set(row.box, row)
      else this.#failed.delete(row.box)
      for (const listener of this.#listeners) listener(row)
    })
  }

  /** Told of every wake that is written down, after its commit. */
  onLog(listener: (row: NewWake) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The newest wake of each mailbox where that one failed; from memory. */
  failed = (): NewWake[] => [...this.#failed.values()]

  dues = (): Due[] => this.#dues.all().map((row) => ({ ...row, refused: JSON.parse(row.refused) }))

  setDue(due: Due): Promise<void> {
    return this.#queue().submit({ k: 'wakeDue', due }, () => {})
  }

  notDue(box: number): Promise<void> {
    return this.#queue().submit({ k: 'wakeNotDue', box }, () => {})
  }
}

const parsed = (row: Stored): WakeRow => ({ ...row, tried: JSON.parse(row.tried) })
