// One look at what is the same for many calls: taken after the last of them was read, so that none was made after it.
import type { ForkMark } from './machine.ts'
import type { Pinned } from './pinned.ts'

export class Look {
  /** The last pid that was given; negative where it cannot be read. */
  readonly mark: number
  readonly now = performance.now()
  #unchanged: Pinned | null = null

  constructor(forks: ForkMark) {
    this.mark = forks.read()
  }

  /** As `Pinned.unchanged`; calls that came together are mostly one process's, which is asked once. */
  unchanged(pinned: Pinned): boolean {
    if (this.#unchanged === pinned && !pinned.closed) return true
    const same = pinned.unchanged()
    this.#unchanged = same ? pinned : null
    return same
  }
}

/**
 * Gathers what one turn of the event loop brought, and lets all of it be judged by one look at its end. Whoever wrote a
 * request did so before it was read, hence before the look: a process made later cannot have been the writer.
 */
export class Turn {
  #waiting: ((look: Look) => void)[] = []

  constructor(private forks: ForkMark) {}

  atEnd(judge: (look: Look) => void): void {
    if (this.#waiting.push(judge) > 1) return
    setImmediate(() => {
      const all = this.#waiting
      this.#waiting = []
      const look = new Look(this.forks)
      for (const one of all) one(look)
    })
  }
}
