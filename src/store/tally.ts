// How much went between two accounts on a day: gathered over a step of the projection, written once.
import type { Database, Statement } from 'bun:sqlite'

export const DAY_MS = 86_400_000

type Counts = {
  account: number
  peer: number
  day: number
  sent: number
  heard: number
  lastSent: number
  lastHeard: number
}

export class Tally {
  readonly #add: Statement
  #counts = new Map<string, Counts>()

  constructor(index: Database) {
    this.#add = index.prepare(
      `INSERT INTO traffic VALUES(?, ?, ?, ?, ?, ?, ?) ON CONFLICT(account, peer, day) DO UPDATE SET
       sent = sent + excluded.sent, heard = heard + excluded.heard,
       last_sent = max(last_sent, excluded.last_sent), last_heard = max(last_heard, excluded.last_heard)`,
    )
  }

  /** What a step that failed had gathered is gathered again. */
  begin(): void {
    this.#counts = new Map()
  }

  /** A message counts once for each account that it went to, however many of its boxes. */
  count({ account, created }: { account: number; created: number }, to: readonly number[]): void {
    const day = Math.floor(created / DAY_MS)
    for (const peer of new Set(to)) {
      if (peer === account) continue
      const sent = this.#of(account, peer, day)
      sent.sent++
      sent.lastSent = Math.max(sent.lastSent, created)
      const heard = this.#of(peer, account, day)
      heard.heard++
      heard.lastHeard = Math.max(heard.lastHeard, created)
    }
  }

  write(): void {
    for (const { account, peer, day, sent, heard, lastSent, lastHeard } of this.#counts.values())
      this.#add.run(account, peer, day, sent, heard, lastSent, lastHeard)
  }

  #of(account: number, peer: number, day: number): Counts {
    const key = `${account} ${peer} ${day}`
    const known = this.#counts.get(key)
    if (known) return known
    const counts = { account, peer, day, sent: 0, heard: 0, lastSent: 0, lastHeard: 0 }
    this.#counts.set(key, counts)
    return counts
  }
}
