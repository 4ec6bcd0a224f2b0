// Thread entry: what must not delay a commit: checkpoints of the write-ahead log, the search index, and copies of the store.
import { connect, SMALL_CACHE_KIB } from './connect.ts'
import { isDamage, isDiskFault } from './disk.ts'
import { inspectFile } from './inspect.ts'
import { forgetIndex, LettersDamaged, Projector } from './projector.ts'
import { orReason } from './thread.ts'
import { type Verified, verifyFile } from './verify.ts'

declare const self: Worker

export type HousekeeperOrder =
  | { open: string; search: string; epoch: string }
  /** Something was committed; `quiet` when nothing more has come for a while, so that the index may take its time. */
  | { tick: true; quiet: boolean }
  /** Index everything up to `upTo`, then answer with `ticket`; `anew`: what is there was found to be damaged. */
  | { catchUp: number; ticket: number; anew?: boolean }
  | { close: true }
  /** All that this thread does: a consistent copy of the store at `copy` in the new file `to`, then an answer. */
  | { copy: string; to: string }
  /** All that this thread does: a look through the store, then its report. */
  | { inspect: string }

/** Messages indexed per tick while commits go on, and while it is quiet. */
const BUSY = 16
const QUIET = 400

let run: (order: HousekeeperOrder) => void = () => {}

self.onmessage = ({ data }: MessageEvent<HousekeeperOrder>) => {
  if ('copy' in data) postMessage(orReason(() => copy(data.copy, data.to)))
  else if ('inspect' in data) postMessage(orReason(() => ({ report: inspectFile(data.inspect, Date.now()) })))
  else if ('open' in data) postMessage(orReason(() => open(data)))
  else run(data)
}

function open(data: Extract<HousekeeperOrder, { open: string }>): { ready: true } {
  // it reads each letter once, in order: a cache would hold what nobody asks for again
  const db = connect(data.open, 'FULL', false, SMALL_CACHE_KIB)
  const checkpoint = db.prepare<{ log: number; checkpointed: number }, []>('PRAGMA wal_checkpoint(PASSIVE)')
  let projector = new Projector(db, data.search, data.epoch)
  const anew = (): void => {
    projector.close()
    postMessage({ remade: true })
    forgetIndex(data.search)
    projector = new Projector(db, data.search, data.epoch)
  }
  /** A damaged index is made again from the letters. */
  const step = (limit: number): number => {
    try {
      return projector.step(limit)
    } catch (error) {
      if (error instanceof LettersDamaged || !(error instanceof Error && isDamage(error.message))) throw error
      anew()
      return projector.step(limit)
    }
  }
  run = (order) => {
    if ('catchUp' in order) {
      const failed = whyNot(() => {
        if (order.anew) anew()
        while (step(QUIET) > 0);
      })
      postMessage({ ticket: order.ticket, failed })
    } else if ('tick' in order) {
      let indexed = 0
      // PASSIVE never waits for readers or the writer; the log is reused, not truncated (a recycled log syncs faster)
      const failed = whyNot(() => checkpoint.get()) ?? whyNot(() => (indexed = step(order.quiet ? QUIET : BUSY)))
      postMessage({ more: failed === null && indexed > 0, failed })
    } else if ('close' in order) {
      projector.close()
      db.close()
      postMessage({ closed: true })
    }
  }
  return { ready: true }
}

/**
 * Why it could not be done, for the owner to judge; null when it was, and when the disk is full: then the log grows and search
 * is behind until a later tick succeeds. This thread lives through everything: without it the log would grow for ever.
 */
function whyNot(work: () => unknown): string | null {
  try {
    work()
    return null
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown failure'
    return isDiskFault(reason) ? null : reason
  }
}

/** Whole and of this very store, or not at all: a backup is looked at before anybody relies on it. */
function copy(path: string, to: string): { copied: Verified } {
  const db = connect(path, 'FULL', true)
  try {
    db.run('VACUUM INTO ?', [to])
  } finally {
    db.close()
  }
  return { copied: verifyFile(to) }
}
