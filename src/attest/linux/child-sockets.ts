// The sockets that the children of a process have open: looked at once after each fork on the machine, for all its connections.
import { startOf } from './process-files.ts'
import { eachSocketOf } from './procfs.ts'

/** After this long everything is looked at again, whatever the fork mark says. */
export const RECHECK_MS = 1000

type Child = { start: number; at: number; sockets: Set<number> }

export class ChildSockets {
  #mark = -2
  #at = 0
  #children = new Map<number, Child>()
  /** The last look could not tell. */
  #blind = false

  /**
   * Children that have the socket `inode` open now; null where it cannot be told. `list`: the pids of all children.
   * What a child had open a moment ago is not looked at twice: it gets a socket of its parent at its birth, or not at all.
   */
  holders(inode: number, mark: number, now: number, list: () => number[] | null): number[] | null {
    if (mark < 0 || mark !== this.#mark || now - this.#at > RECHECK_MS) this.#look(mark, now, list())
    if (this.#blind) return null
    const found: number[] = []
    for (const [pid, child] of this.#children) {
      if (!child.sockets.has(inode)) continue
      // between fork and exec a child has all that its parent has: only what it has now counts
      const sockets = socketsOf(pid)
      if (sockets === null) return null
      child.sockets = sockets
      if (sockets.has(inode)) found.push(pid)
    }
    return found
  }

  #look(mark: number, now: number, pids: number[] | null): void {
    this.#mark = mark
    this.#at = now
    this.#blind = pids === null
    const before = this.#children
    this.#children = new Map()
    for (const pid of pids ?? []) {
      if (pid === process.pid) continue // we trust ourselves
      const start = startOf(pid)
      if (start === null) continue // it has ended
      const known = before.get(pid)
      const fresh = known?.start === start && now - known.at < RECHECK_MS
      const sockets = fresh ? known.sockets : socketsOf(pid)
      if (sockets === null) this.#blind = true
      else this.#children.set(pid, { start, at: fresh ? known.at : now, sockets })
    }
  }
}

/** Null where it cannot be told; nothing for a process that has ended. */
function socketsOf(pid: number): Set<number> | null {
  const found = new Set<number>()
  const read = eachSocketOf(pid, (inode) => {
    found.add(inode)
    return false
  })
  return read === 'failed' ? null : found
}
