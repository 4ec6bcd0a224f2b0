// How much went between two accounts, or an account and a room, on a day: gathered over a step of the projection, written once.
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

/** An account that a letter went to, and through which room; 0 for none. */
export type Reached = { account: number; room: number }

/** A room among the peers of an account: accounts have positive ids. */
export const roomPeer = (room: number): number => -room

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

  /** A message counts once for each account that it went to, and each room, however many of its boxes. */
  count({ account, created }: { account: number; created: number }, to: readonly Reached[]): void {
    const day = Math.floor(created / DAY_MS)
    for (const room of new Set(to.map((one) => one.room))) {
      if (room === 0) continue
      this.#sent(account, roomPeer(room), day, created)
      for (const one of to)
        if (one.room === room && one.account !== account) this.#heard(one.account, roomPeer(room), day, created)
    }
    for (const peer of new Set(to.map((one) => one.account))) {
      if (peer === account) continue
      this.#sent(account, peer, day, created)
      this.#heard(peer, account, day, created)
    }
  }

  #sent(account: number, peer: number, day: number, created: number): void {
    const counts = this.#of(account, peer, day)
    counts.sent++
    counts.lastSent = Math.max(counts.lastSent, created)
  }

  #heard(account: number, peer: number, day: number, created: number): void {
    const counts = this.#of(account, peer, day)
    counts.heard++
    counts.lastHeard = Math.max(counts.lastHeard, created)
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
