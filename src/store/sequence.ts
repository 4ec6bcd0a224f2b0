// The one sequence of messages and events, and the random half of message ids.

import type { Database } from 'bun:sqlite'
import type { LogReads } from './reads/log.ts'

/** Random bytes are drawn in blocks: a call for each id would cost more than the id. */
const BLOCK = 3_072
const BYTES = 6

export class Sequence {
  #next: number
  #lastTime: number
  #block = ''
  #at = 0

  constructor(db: Database, log: LogReads) {
    this.#next = log.head() + 1
    this.#lastTime =
      db
        .query<{ at: number | null }, []>(
          'SELECT max(created) AS at FROM (SELECT created FROM message ORDER BY id DESC LIMIT 1)',
        )
        .get()?.at ?? 0
  }

  /** The first of `count` numbers that nobody else gets. */
  take(count: number): number {
    const first = this.#next
    this.#next += count
    return first
  }

  /** 12 hex digits. */
  random(): string {
    if (this.#at >= this.#block.length) {
      this.#block = Buffer.from(crypto.getRandomValues(new Uint8Array(BLOCK))).toString('hex')
      this.#at = 0
    }
    this.#at += 2 * BYTES
    return this.#block.slice(this.#at - 2 * BYTES, this.#at)
  }

  /** The next message is one that was written at `created` ms elsewhere: is it older than the message before it? */
  dated(created: number): boolean {
    const step = created < this.#lastTime
    this.#lastTime = created
    return step
  }

  /** Milliseconds since the epoch, and whether the clock went back since the last message. */
  now(): { at: number; step: boolean } {
    const at = Date.now()
    const step = at < this.#lastTime
    this.#lastTime = at
    return { at, step }
  }
}
