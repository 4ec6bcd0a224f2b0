// The processes that we hold pinned: the most recently used ones, four descriptors each.
import type { Instance, Process } from '../attestor.ts'
import { shortage } from './descriptors.ts'
import { libc } from './libc.ts'
import { type Machine, pidfdInode } from './machine.ts'
import { Pinned } from './pinned.ts'
import { openProcess } from './procfs.ts'
import { openStat, readStat, stat } from './stat.ts'

function runs(instance: Instance, machine: Machine): boolean {
  const dir = openProcess(instance.pid)
  if (dir < 0) return false
  const line = openStat(dir)
  // While `line` still reads a process, its pid was not given on, so the pidfd asked before was that process's.
  const pidfd = machine.hasPidfs ? pidfdInode(instance.pid) : null
  const same = line >= 0 && readStat(line) && String(stat.start) === instance.start && pidfd === instance.pidfd
  if (line >= 0) libc().close(line)
  libc().close(dir)
  return same
}

export class PinTable {
  #pins = new Map<number, Pinned>()
  #clock = 0

  /** `limit`: how many are pinned at most. */
  constructor(
    readonly machine: Machine,
    readonly limit: number,
  ) {}

  /** The instance that has this pid now, refreshed; null where there is none. */
  pin(pid: number): Pinned | null {
    const known = this.#pins.get(pid)
    if (known) {
      if (known.refresh()) return this.touch(known)
      this.#drop(known)
    }
    let opened = Pinned.open(pid, this.machine)
    if (opened === null && this.#makeRoom()) opened = Pinned.open(pid, this.machine)
    if (opened === null) return null
    if (this.#pins.size >= this.limit) this.#evict()
    this.#pins.set(pid, opened)
    return this.touch(opened)
  }

  /** That very instance, refreshed; null where it has ended. */
  instance(instance: Instance): Pinned | null {
    const pinned = this.pin(instance.pid)
    return pinned?.is(instance) ? pinned : null
  }

  /** The instance that had these facts, pinned once more; the facts are the same object where none has moved. */
  again(process: Process): Pinned | null {
    const pinned = this.instance(process)
    pinned?.resume(process)
    return pinned
  }

  /** Does that very instance still run? Pins nothing, so that a sweep over many does not push out those in use. */
  isAlive(instance: Instance): boolean {
    const known = this.#pins.get(instance.pid)
    if (known?.is(instance) && known.refresh()) return true
    // Want of descriptors is no proof of an end.
    return runs(instance, this.machine) || (this.#makeRoom() && runs(instance, this.machine))
  }

  touch(pinned: Pinned): Pinned {
    pinned.used = ++this.#clock
    return pinned
  }

  /** Nothing can be opened now? Gives up half of the pins: who is proved by one is pinned again at the next call. */
  #makeRoom(): boolean {
    if (this.#pins.size === 0 || shortage() === 0) return false
    for (let left = Math.ceil(this.#pins.size / 2); left > 0; left--) this.#evict()
    return true
  }

  /** The one that was not used for longest, which one that has ended soon is. Asks the kernel nothing. */
  #evict() {
    let oldest: Pinned | undefined
    for (const pinned of this.#pins.values()) if (oldest === undefined || pinned.used < oldest.used) oldest = pinned
    if (oldest) this.#drop(oldest)
  }

  #drop(pinned: Pinned) {
    this.#pins.delete(pinned.pid)
    pinned.close()
  }

  close() {
    for (const pinned of [...this.#pins.values()]) this.#drop(pinned)
  }
}
