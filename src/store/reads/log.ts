// Reads of the log: events and sends in one sequence, subscriber cursors, the sequence at a time.
import type { Database } from 'bun:sqlite'
import type { EventRow } from '../rows.ts'

export const SQL = {
  events: `SELECT id, at, kind, message, account, session, reason, dispatch, attempt FROM event WHERE id > ?1
    UNION ALL SELECT id, created, 'sent', id, account, NULL, NULL, NULL, NULL FROM message WHERE id > ?1 ORDER BY id LIMIT ?2`,
  head: `SELECT max(coalesce((SELECT max(id) FROM message), 0), coalesce((SELECT max(id) FROM event), 0),
    coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'floor'), 0)) AS id`,
  floor: "SELECT CAST(value AS INTEGER) AS id FROM meta WHERE key = 'floor'",
  probe: 'SELECT id, created FROM message WHERE id >= ? ORDER BY id LIMIT 1',
} as const

export class LogReads {
  readonly #events
  readonly #head
  readonly #floor
  readonly #cursor
  readonly #subscribers
  readonly #probe
  readonly #steps

  constructor(db: Database) {
    this.#events = db.prepare<EventRow, [number, number]>(SQL.events)
    this.#head = db.prepare<{ id: number }, []>(SQL.head)
    this.#floor = db.prepare<{ id: number }, []>(SQL.floor)
    this.#cursor = db.prepare<{ id: number }, [string]>('SELECT id FROM cursor WHERE subscriber = ?')
    this.#subscribers = db.prepare<{ subscriber: string }, [string]>(
      'SELECT subscriber FROM cursor WHERE substr(subscriber, 1, length(?1)) = ?1',
    )
    this.#probe = db.prepare<{ id: number; created: number }, [number]>(SQL.probe)
    this.#steps = db.prepare<{ id: number }, []>('SELECT id FROM clock_step ORDER BY id')
  }

  events(after: number, limit: number): EventRow[] {
    return this.#events.all(after, limit)
  }

  head(): number {
    return this.#head.get()?.id ?? 0
  }

  /** Retention has removed nothing above it: who reads on from a place below it would miss something. */
  floor(): number {
    return this.#floor.get()?.id ?? 0
  }

  cursor(subscriber: string): number {
    return this.#cursor.get(subscriber)?.id ?? 0
  }

  subscribers(prefix: string): string[] {
    return this.#subscribers.all(prefix).map(({ subscriber }) => subscriber)
  }

  /**
   * The lowest sequence whose message may be as young as `since` ms. Between two steps of the clock times ascend with the
   * sequence, so each such stretch is searched by halves; the earliest hit of any stretch counts.
   */
  sequenceSince(since: number): number {
    const borders = [1, ...this.#steps.all().map((row) => row.id), this.head() + 1]
    for (let i = 0; i + 1 < borders.length; i++) {
      const hit = this.#search(borders[i] ?? 1, borders[i + 1] ?? 1, since)
      if (hit !== null) return hit
    }
    return this.head() + 1
  }

  #search(from: number, end: number, since: number): number | null {
    let low = from
    let high = end
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const row = this.#probe.get(middle)
      if (!row || row.id >= end || row.created >= since) high = middle
      else low = row.id + 1
    }
    const found = low < end ? this.#probe.get(low) : null
    return found && found.id < end && found.created >= since ? low : null
  }
}
