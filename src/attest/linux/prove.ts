// From a search of all holders to one proved holder, and the patience that a fork in flight needs.
import type { AttestRefusal, Verdict } from '../attestor.ts'
import { refuse } from '../refuse.ts'
import { shortage } from './descriptors.ts'
import { Held } from './held.ts'
import type { ScanReport } from './holders.ts'
import type { PinTable } from './pin-table.ts'
import { startOf } from './process-files.ts'
import type { Scanner } from './scanner.ts'

/** No verdict yet: search the holders of `inode`, or wait a moment because they are, or seem to be, too many or none. */
export type Unsettled = {
  again: 'scan' | 'wait'
  inode: number
  refusal: AttestRefusal
  /** the processes that have the socket at once, each as pid and start time */
  holders?: readonly string[]
}

/** One synchronous try, given the report of a search that has just ended, if one has. */
export type Attempt = (report: ScanReport | null) => Verdict | Unsettled

/**
 * Before exec closes them, a forked child has all descriptors of its parent for a moment. So long we wait, in ms, for the
 * same ones to let go. A process that starts one child after the other always has another one: then we begin anew.
 */
const WAITS = [3, 15, 60]
const PATIENCE_MS = 2000

/** A socket that moves between processes faster than that is refused. */
const MAX_SCANS = 6

/** Repeats `attempt` until it settles. Every verdict comes out of one attempt with nothing awaited inside. */
export async function settle(first: Unsettled, attempt: Attempt, scanner: Scanner): Promise<Verdict> {
  let step: Verdict | Unsettled = first
  const end = performance.now() + PATIENCE_MS
  let waits = 0
  let scans = 0
  let sharers: readonly string[] = []
  while ('again' in step) {
    if (step.again === 'scan') {
      if (scans++ === MAX_SCANS) return step.refusal
      const report = await scanner.scan(step.inode)
      if (!report?.complete) return searchFailed(report?.errno ?? shortage())
      step = attempt(report)
    } else {
      const { holders } = step
      if (holders !== undefined) {
        sharers = holders.filter((holder) => waits === 0 || sharers.includes(holder))
        if (sharers.length < 2 && performance.now() < end) {
          sharers = holders
          waits = 0
          scans = 0
        }
      }
      const pause = WAITS[waits++]
      if (pause === undefined) return step.refusal
      await Bun.sleep(pause)
      step = attempt(null)
    }
  }
  return step
}

/** Nothing follows from a search that could not look everywhere; `errno` says why, 0 for an unknown reason. */
const searchFailed = (errno: number): AttestRefusal =>
  refuse('unreadable', errno > 0 ? { scan: 'failed', errno } : { scan: 'failed' })

/** The only holder of `inode` in that report, pinned; or why there is none. */
export function soleHolder(report: ScanReport, inode: number, table: PinTable, connection: string): Held | Unsettled {
  const holders = report.holders.filter((holder) => holder.inode === inode)
  const [holder] = holders
  if (holder === undefined) {
    const [hidden] = report.unreadable
    const seen = { inode, processes: report.processes }
    const refusal =
      hidden === undefined
        ? refuse('no_holder', seen)
        : refuse('unreadable', { ...seen, pids: report.unreadable.join() })
    return { again: 'wait', inode, refusal }
  }
  if (holders.length > 1)
    return sharedBy(
      holders.map((one) => one.pid),
      inode,
    )
  const pinned = table.pin(holder.pid)
  const errno = pinned === null ? shortage() : 0
  if (errno > 0) return { again: 'wait', inode, refusal: searchFailed(errno) }
  // The pid may have a new owner since the search: what follows asks the pinned process itself whether it has the socket.
  if (pinned === null) return { again: 'scan', inode, refusal: refuse('no_holder', { inode, pid: holder.pid }) }
  return new Held(pinned, table, inode, connection, holder.fd, report.forkMark)
}

export function sharedBy(pids: readonly number[], inode: number): Unsettled {
  const refusal = refuse('shared_connection', { inode, holders: pids.join() })
  const holders = pids.flatMap((pid) => {
    const start = startOf(pid)
    return start === null ? [] : [`${pid} ${start}`]
  })
  return { again: 'wait', inode, refusal, holders }
}
