// The index of what each account sent, written for many sends at once: readers look through the few that are not in it yet.
import type { Database } from 'bun:sqlite'

/** Under this name `cursor` says up to which message the index goes. */
export const SENT_CURSOR = 'sent'

/** Sends that are not indexed yet, at most, before a batch. At 64 senders an entry costs a page; of 256 at once, a quarter. */
const BEHIND = 256

type Sent = { account: number; id: number }

export class SentIndex {
  #behind: Sent[]
  /** Of the batch that runs: forgotten with it. */
  #batch: Sent[] = []
  #indexed = false
  readonly #add
  readonly #reached

  constructor(db: Database) {
    this.#behind = db
      .query<Sent, [string]>(
        'SELECT account, id FROM message WHERE id > coalesce((SELECT id FROM cursor WHERE subscriber = ?), 0)',
      )
      .all(SENT_CURSOR)
    this.#add = db.prepare('INSERT INTO sent(account, id) VALUES(?, ?)')
    this.#reached = db.prepare(`INSERT OR REPLACE INTO cursor(subscriber, id) VALUES('${SENT_CURSOR}', ?)`)
  }

  sent(account: number, id: number): void {
    this.#batch.push({ account, id })
  }

  /** Indexes what has gathered, in the transaction that runs. */
  flush(): void {
    if (this.#behind.length < BEHIND) return
    // in the order of the index, so that each page is changed once
    for (const { account, id } of this.#behind.sort((a, b) => a.account - b.account || a.id - b.id))
      this.#add.run(account, id)
    this.#reached.run(this.#behind.reduce((most, { id }) => Math.max(most, id), 0))
    this.#indexed = true
  }

  /** The batch is on the disk. */
  committed(): void {
    if (this.#indexed) this.#behind = []
    this.#indexed = false
    this.#behind.push(...this.#batch)
    this.#batch = []
  }

  /** The batch was rolled back. */
  forget(): void {
    this.#indexed = false
    this.#batch = []
  }
}
