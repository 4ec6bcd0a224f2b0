// The index of what each account sent, written for many sends at once: readers look through the few that are not in it yet.
import type { Database } from 'bun:sqlite'

/** Up to which message the index goes; 0 before its first entries. */
export const SENT_REACHED = "SELECT CAST(value AS INTEGER) AS id FROM meta WHERE key = 'sent'"

/** Sends that are not indexed yet, at most, before a batch. At 64 senders an entry costs a page; of 256 at once, a quarter. */
const BEHIND = 256

export class SentIndex {
  #behind: number
  #batch = 0
  readonly #add
  readonly #reached

  constructor(db: Database) {
    const unindexed = `FROM message WHERE id > coalesce((${SENT_REACHED}), 0)`
    this.#behind = db.query<{ n: number }, []>(`SELECT count(*) AS n ${unindexed}`).get()?.n ?? 0
    // in the order of the index, so that each page is changed once
    this.#add = db.prepare(`INSERT INTO sent SELECT account, id ${unindexed} ORDER BY account, id`)
    this.#reached = db.prepare(
      "INSERT OR REPLACE INTO meta SELECT 'sent', CAST(coalesce(max(id), 0) AS TEXT) FROM message",
    )
  }

  /** The batch holds one message more. */
  sent(): void {
    this.#batch++
  }

  /** Indexes what has gathered, with what the batch brings, in the transaction that runs. */
  flush(): void {
    if (this.#behind + this.#batch < BEHIND) return
    this.#add.run()
    this.#reached.run()
  }

  /** The batch is on the disk. */
  committed(): void {
    const all = this.#behind + this.#batch
    this.#behind = all < BEHIND ? all : 0
    this.#batch = 0
  }

  /** The batch was rolled back. */
  forget(): void {
    this.#batch = 0
  }
}
