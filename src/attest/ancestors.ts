// The parents of a process, each one proved to be older than its child and still its parent.
import type { Instance, Process } from './attestor.ts'

/** A process that the platform keeps hold of, so that a reused pid cannot stand in for it. */
export type HeldProcess = {
  /** the facts as last read */
  readonly process: Process
  /** Runs still? Reads again what may have moved. */
  refresh(): boolean
}

/** How a platform finds processes. */
export type ProcessTable = {
  /** the process that has this pid now; null where there is none */
  pin(pid: number): HeldProcess | null
  /** that very instance; null where it has ended */
  instance(instance: Instance): HeldProcess | null
}

/** More levels than any shell nests; a bound against a tree that changes under the walk. */
const MAX_DEPTH = 128

export type Older = (parent: Process, child: Process) => boolean

/** By start time, where the system tells that of every process. */
export const startedBefore: Older = (parent, child) => BigInt(parent.start) <= BigInt(child.start)

/** Nearest first, up to and with pid 1; shorter where a link cannot be proved. Empty once `process` has ended. */
export function ancestorsOf(process: Process, table: ProcessTable, older: Older = startedBefore): Process[] {
  const found: Process[] = []
  let child = table.instance(process)
  while (child !== null && found.length < MAX_DEPTH) {
    const parent = parentOf(child, table, older)
    if (parent !== null) found.push(parent.process)
    child = parent
  }
  return found
}

function parentOf(child: HeldProcess, table: ProcessTable, older: Older): HeldProcess | null {
  // Where a parent ends in between, the child is given to another one: a second look follows it.
  for (let tries = 0; tries < 2; tries++) {
    const { ppid } = child.process
    if (ppid <= 0 || ppid === child.process.pid) return null
    const parent = table.pin(ppid)
    // Still the child's parent after it was pinned: so the pid was not given on in between.
    if (!child.refresh()) return null
    if (child.process.ppid !== ppid) continue
    return parent !== null && older(parent.process, child.process) ? parent : null
  }
  return null
}
