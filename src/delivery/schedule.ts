// Which message of one listener rings next: first rings in the order of the mail, then reminders as they fall due; bounded.

/** Milliseconds until a message that is still unopened rings again: after the first ring, the second, and so on. */
export const DELAYS: readonly number[] = [30_000, 60_000, 120_000, 240_000, 300_000]

export type Bell = {
  readonly id: number
  /** Where the account has the message: its own box, that of a session, or both. */
  readonly boxes: number[]
  /** Times that it was tried. */
  rings: number
  /** Milliseconds since the epoch; not before that. */
  due: number
  /** Did the last try succeed? */
  rung: boolean
}

/** Bells kept for one listener. */
const LIMIT = 1_000

export class Schedule {
  readonly #bells = new Map<number, Bell>()

  get(id: number): Bell | undefined {
    return this.#bells.get(id)
  }

  /** A reminder makes room for a bell that nobody has heard yet. */
  get full(): boolean {
    return this.#bells.size >= LIMIT && !this.#find((bell) => bell.rung)
  }

  /** False where there was no room for it. */
  add(bell: Bell): boolean {
    if (this.#bells.size >= LIMIT) {
      const reminder = bell.rung ? undefined : this.#find((other) => other.rung)
      if (!reminder) return false
      this.#bells.delete(reminder.id)
    }
    this.#bells.set(bell.id, bell)
    return true
  }

  delete(id: number): void {
    this.#bells.delete(id)
  }

  clear(): void {
    this.#bells.clear()
  }

  /**
   * The bell that rings next, due or not yet. With `coalesce` it is always the same one while it is there: a message that
   * was rung speaks for all that came after it.
   */
  next(coalesce: boolean): Bell | undefined {
    if (coalesce) return this.#find((bell) => bell.rings > 0) ?? this.#find(() => true)
    let next: Bell | undefined
    for (const bell of this.#bells.values()) {
      if (bell.rings === 0) return bell
      if (!next || bell.due < next.due) next = bell
    }
    return next
  }

  /** Bells that nobody has heard yet. */
  pending(coalesce: boolean): number {
    if (coalesce) return this.next(true)?.rung === false ? 1 : 0
    let count = 0
    for (const bell of this.#bells.values()) if (!bell.rung) count++
    return count
  }

  #find(wanted: (bell: Bell) => boolean): Bell | undefined {
    for (const bell of this.#bells.values()) if (wanted(bell)) return bell
    return undefined
  }
}

/** `heir` goes on where `bell` was: what was rung is not rung anew, what was not is. */
export function inherit(heir: Bell, bell: Bell): void {
  heir.rings = bell.rings
  heir.due = bell.due
  heir.rung = bell.rung
}
