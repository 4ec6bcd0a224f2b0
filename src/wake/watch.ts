// One mailbox that has mail which may wake somebody: what waits, what the last wake was for, what is due from before.
import type { Due } from '../store/wake/rows.ts'

/** Letters kept by number; of more the newest. */
const MOST = 200
/** Letters that never may, kept while others are due. */
const REFUSED_MOST = 1_000

export class Watch {
  /** Letters that came and were not looked at yet, ascending. */
  waiting: number[] = []
  timer: Timer | null = null
  running = false
  /** When it is looked at next (ms). */
  dueAt = 0
  /** A wake that the agent has not answered by reading: it speaks for what comes meanwhile. */
  outstanding: { ids: number[]; until: number } | null = null
  due: Due | null = null
  /** Milliseconds until what is due is tried again. */
  backOff = 0
  retryAt = 0
  /** What the last wake came to, so that the same is not written down over and over. */
  last = ''

  constructor(
    readonly box: number,
    readonly account: number,
  ) {}

  add(id: number): void {
    if (this.waiting.includes(id)) return
    this.waiting.push(id)
    if (this.waiting.length > MOST) this.waiting.shift()
  }

  /** The lowest letter that is still to be looked at; null: none is. */
  get first(): number | null {
    return this.waiting[0] ?? null
  }

  /** Nothing waits, runs or is due. */
  get idle(): boolean {
    return this.waiting.length === 0 && !this.running && this.outstanding === null && this.due === null
  }

  /** These have not woken anybody, and shall once somebody is there. */
  owe(first: number): Due {
    this.due = { box: this.box, first: Math.min(first, this.due?.first ?? first), refused: this.due?.refused ?? [] }
    return this.due
  }

  /** These never may; kept only where an earlier one is due, since all others are not looked at again anyway. */
  refuse(ids: readonly number[]): Due | null {
    if (this.due === null || ids.length === 0) return null
    const refused = [...new Set([...this.due.refused, ...ids])]
    // more than that: what is due begins behind them
    if (refused.length > REFUSED_MOST) this.due = { box: this.box, first: Math.max(...refused) + 1, refused: [] }
    else this.due = { ...this.due, refused }
    return this.due
  }
}
