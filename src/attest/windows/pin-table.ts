// The processes whose handles we hold: the most recently used ones.
import type { ProcessTable } from '../ancestors.ts'
import type { Instance } from '../attestor.ts'
import { type Machine, Pinned } from './pinned.ts'

const LIMIT = 128

export class PinTable implements ProcessTable {
  /** Error number of the last process that could not be opened. */
  error = 0
  #pins = new Map<number, Pinned>()
  #clock = 0

  constructor(readonly machine: Machine) {}

  /** The process that has this pid now; null where it has ended, or may not be opened: `error` tells which (0: ended). */
  pin(pid: number): Pinned | null {
    const known = this.#pins.get(pid)
    if (known?.refresh()) return this.#touch(known)
    if (known) this.#drop(known)
    const opened = Pinned.open(pid, this.machine)
    this.error = typeof opened === 'number' ? opened : 0
    if (opened === null || typeof opened === 'number') return null
    if (this.#pins.size >= LIMIT) this.#evict()
    this.#pins.set(pid, opened)
    return this.#touch(opened)
  }

  instance(instance: Instance): Pinned | null {
    const pinned = this.pin(instance.pid)
    return pinned?.is(instance) ? pinned : null
  }

  /** Keeps nothing open that was not, so that a sweep over many does not push out those in use. */
  isAlive(instance: Instance): boolean {
    const known = this.#pins.get(instance.pid)
    if (known?.is(instance)) return known.refresh()
    const opened = Pinned.open(instance.pid, this.machine)
    if (opened === null || typeof opened === 'number') return false
    const alive = opened.is(instance)
    opened.close()
    return alive
  }

  #touch(pinned: Pinned): Pinned {
    pinned.used = ++this.#clock
    return pinned
  }

  #evict() {
    const oldest = [...this.#pins.values()].reduce((a, b) => (a.used < b.used ? a : b))
    this.#drop(oldest)
  }

  #drop(pinned: Pinned) {
    this.#pins.delete(pinned.pid)
    pinned.close()
  }

  close() {
    for (const pinned of [...this.#pins.values()]) this.#drop(pinned)
  }
}
