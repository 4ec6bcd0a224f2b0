// From a search of all holders to one proved holder, and the patience that a fork in flight needs.
import type { AttestRefusal, Verdict } from '../attestor.ts'
import { refuse } from '../refuse.ts'
import { Held } from './held.ts'
import type { ScanReport } from './holders.ts'
import type { PinTable } from './pin-table.ts'
import type { Scanner } from './scanner.ts'

/** No verdict yet: search the holders of `inode`, or wait a moment because they are, or seem to be, too many or none. */
export type Unsettled = { again: 'scan' | 'wait'; inode: number; refusal: AttestRefusal }

/** One synchronous try, given the report of a search that has just ended, if one has. */
export type Attempt = (report: ScanReport | null) => Verdict | Unsettled

/** Before exec closes them, a forked child has all descriptors of its parent for a moment. So long we wait, in ms. */
const WAITS = [3, 15, 60]

/** A socket that moves between processes faster than that is refused. */
const MAX_SCANS = 6

/** Repeats `attempt` until it settles. Every verdict comes out of one attempt with nothing awaited inside. */
export async function settle(first: Unsettled, attempt: Attempt, scanner: Scanner): Promise<Verdict> {
  let step: Verdict | Unsettled = first
  let waits = 0
  let scans = 0
  while ('again' in step) {
    if (step.again === 'scan') {
      if (scans++ === MAX_SCANS) return step.refusal
      const report = await scanner.scan(step.inode)
      if (report === null) return refuse('unreadable', { scan: 'failed' })
      step = attempt(report)
    } else {
      const pause = WAITS[waits++]
      if (pause === undefined) return step.refusal
      await Bun.sleep(pause)
      step = attempt(null)
    }
  }
  return step
}

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
  // The pid may have a new owner since the search: what follows asks the pinned process itself whether it has the socket.
  if (pinned === null) return { again: 'scan', inode, refusal: refuse('no_holder', { inode, pid: holder.pid }) }
  return new Held(pinned, inode, connection, holder.fd, report.forkMark)
}

export function sharedBy(pids: readonly number[], inode: number): Unsettled {
  return { again: 'wait', inode, refusal: refuse('shared_connection', { inode, holders: pids.join() }) }
}
