// Keys whose message has been removed: found by a walk of their tables, a few hundred at a time.
import type { Database } from 'bun:sqlite'
import type { Pace } from './pace.ts'

export type Stale = {
  keys: { account: number; key: string }[]
  upserts: { account: number; box: number; key: string }[]
}
type Key = { account: number; key: string; gone: number }
type Upsert = { account: number; box: number; key: string; gone: number }

const SLICE = 256

export class StaleKeys {
  readonly #keys
  readonly #upserts

  constructor(db: Database) {
    this.#keys = db.prepare<Key, [number, string, number]>(
      `SELECT account, key, NOT EXISTS (SELECT 1 FROM message m WHERE m.id = k.id) AS gone FROM idempotency k
       WHERE (account, key) > (?, ?) ORDER BY account, key LIMIT ?`,
    )
    this.#upserts = db.prepare<Upsert, [number, number, string, number]>(
      `SELECT account, box, key, NOT EXISTS (SELECT 1 FROM message m WHERE m.id = u.id) AS gone FROM upsert u
       WHERE (account, box, key) > (?, ?, ?) ORDER BY account, box, key LIMIT ?`,
    )
  }

  *slices(): Generator<Stale> {
    for (let last: Key = { account: 0, key: '', gone: 0 }; ; ) {
      const rows = this.#keys.all(last.account, last.key, SLICE)
      yield { keys: rows.filter(({ gone }) => gone).map(({ account, key }) => ({ account, key })), upserts: [] }
      const end = rows.at(-1)
      if (!end || rows.length < SLICE) break
      last = end
    }
    for (let last: Upsert = { account: 0, box: 0, key: '', gone: 0 }; ; ) {
      const rows = this.#upserts.all(last.account, last.box, last.key, SLICE)
      const upserts = rows.filter(({ gone }) => gone).map(({ account, box, key }) => ({ account, box, key }))
      yield { keys: [], upserts }
      const end = rows.at(-1)
      if (!end || rows.length < SLICE) break
      last = end
    }
  }
}

/** Removes them; `remove` is one short write. */
export async function clearKeys(
  stale: StaleKeys,
  remove: (stale: Stale) => Promise<unknown>,
  pace: Pace,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const slice of stale.slices()) {
    if (signal?.aborted) return
    if (slice.keys.length + slice.upserts.length > 0) await remove(slice)
    await pace.wait()
  }
}
