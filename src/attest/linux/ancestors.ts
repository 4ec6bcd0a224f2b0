// The parents of a process, each one proved to be older than its child and still its parent.
import type { Process } from '../attestor.ts'
import type { PinTable } from './pin-table.ts'
import type { Pinned } from './pinned.ts'

/** More levels than any shell nests; a bound against a tree that changes under the walk. */
const MAX_DEPTH = 128

/** Nearest first, up to and with pid 1; shorter where a link cannot be proved. Empty once `process` has ended. */
export function ancestorsOf(process: Process, table: PinTable): Process[] {
  const found: Process[] = []
  let child = table.instance(process)
  while (child !== null && found.length < MAX_DEPTH) {
    const parent = parentOf(child, table)
    if (parent !== null) found.push(parent.process)
    child = parent
  }
  return found
}

function parentOf(child: Pinned, table: PinTable): Pinned | null {
  // Where a parent ends in between, the child is given to another one: a second look follows it.
  for (let tries = 0; tries < 2; tries++) {
    const { ppid, start } = child.process
    if (ppid <= 0 || ppid === child.pid) return null
    const parent = table.pin(ppid)
    // Still the child's parent after it was pinned: so the pid was not given on in between.
    if (!child.refresh()) return null
    if (child.process.ppid !== ppid) continue
    return parent !== null && Number(parent.process.start) <= Number(start) ? parent : null
  }
  return null
}
