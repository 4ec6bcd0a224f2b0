// The rows of desktop notifications in memory, written through.
import type { Database } from 'bun:sqlite'
import type { Queue } from '../queue.ts'
import type { NotifyRow, NotifyStore } from './notify.ts'

export class NotifyRows implements NotifyStore {
  readonly #rows = new Map<number, NotifyRow>()
  readonly #queue: () => Queue

  constructor(db: Database, queue: () => Queue) {
    this.#queue = queue
    type Stored = Omit<NotifyRow, 'enabled'> & { enabled: number | null }
    const stored = db.query<Stored, []>('SELECT account, enabled, due, shown, failure, failed FROM notify').all()
    for (const row of stored)
      this.#rows.set(row.account, { ...row, enabled: row.enabled === null ? null : row.enabled === 1 })
  }

  row(account: number): NotifyRow {
    return this.#rows.get(account) ?? { account, enabled: null, due: 0, shown: null, failure: null, failed: null }
  }

  put(row: NotifyRow): Promise<void> {
    this.#rows.set(row.account, row)
    return this.#queue().submit({ k: 'notify', ...row }, () => {})
  }
}
