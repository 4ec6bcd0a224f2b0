// Group commit: jobs that arrive while a commit runs share the next one. Bounded; each job gets its own answer after the fsync.
import { Refusal } from '../wire/refusal.ts'
import { isDiskFault } from './disk.ts'
import type { Job, JobOf, Outcome, Results } from './jobs/job.ts'

/** Where batches are committed: the writer thread, or the writer itself for a store in memory. */
export type Committer = {
  commit(jobs: readonly Job[], done: (outcomes: readonly Outcome[]) => void): void
  close(): Promise<void>
}

/** Jobs that may wait; above it writes are refused `busy`. At 10 µs a job the newest waits some 100 ms. */
const LIMIT = 10_000
const BATCH = 512
/** Milliseconds from a fault of the disk to the next try. */
const RETRY_MS = 2_000

type Waiting = { job: Job; done: (outcome: Outcome) => void }

export class Queue {
  #waiting: Waiting[] = []
  #running = false
  #scheduled = false
  #closing: (() => void) | null = null
  #closed = false
  #broken: string | null = null
  #fault: string | null = null
  #retry: Timer | null = null
  commits = 0
  committed = 0

  /** `before` may add housekeeping jobs to a batch; `after` sees a batch once its jobs have applied their outcomes. */
  constructor(
    readonly committer: Committer,
    readonly before: (now: number) => readonly Job[],
    readonly after: () => void,
  ) {}

  /** Why the last batch could not be written, when the disk was the reason; null once one could be again. */
  get fault(): string | null {
    return this.#broken ?? this.#fault
  }

  get queued(): number {
    return this.#waiting.length
  }

  /** `apply` runs right after the commit, in commit order, before the promise resolves. */
  submit<K extends Job['k'], T>(job: JobOf<K>, apply: (outcome: Results[K]) => T): Promise<T> {
    if (this.#closed)
      return Promise.reject(new Refusal('shutting_down', 'the mailbox is stopping', { retry_after_ms: 1000 }))
    if (this.#broken !== null) return Promise.reject(failed(job.k, this.#broken))
    if (this.#waiting.length >= LIMIT)
      return Promise.reject(new Refusal('busy', 'the write queue is full', { retry_after_ms: 250, limit: LIMIT }))
    return new Promise<T>((resolve, reject) => {
      const done = (outcome: Outcome): void => {
        if (outcome !== null && 'failed' in outcome) return reject(failed(job.k, outcome.failed))
        try {
          // the writer answers each job with the result of its kind; the type of the pair is lost on the way
          resolve(apply(outcome as Results[K]))
        } catch (error) {
          reject(error)
        }
      }
      this.#waiting.push({ job, done })
      this.#schedule()
    })
  }

  /** The writer is gone: what waits and what comes is refused; nothing was acknowledged. */
  break(reason: string): void {
    this.#broken = reason
    for (const { done } of this.#waiting.splice(0)) done({ failed: reason })
    this.#closing?.()
  }

  /** Resolves when all that was accepted is committed; nothing more is accepted. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    if (this.#retry) clearTimeout(this.#retry)
    if (this.#broken === null && (this.#running || this.#waiting.length > 0))
      await new Promise<void>((resolve) => {
        this.#closing = resolve
      })
    await this.committer.close()
  }

  /** After a fault of the disk something is written now and then, so that its end is seen though nobody sends. */
  #judge(outcomes: readonly Outcome[]): void {
    this.#fault = outcomes.map(diskFault).find((reason) => reason !== null) ?? null
    if (this.#fault === null || this.#closed || this.#retry) return
    this.#retry = setTimeout(() => {
      this.#retry = null
      this.submit({ k: 'probe', at: Date.now() }, () => {}).catch(() => {})
    }, RETRY_MS)
  }

  #schedule(): void {
    if (this.#running || this.#scheduled) return
    this.#scheduled = true
    // one turn of the event loop gathers what arrived together; a timer window would only add latency (measured)
    setImmediate(() => {
      this.#scheduled = false
      this.#post()
    })
  }

  #post(): void {
    if (this.#running || this.#broken !== null) return
    if (this.#waiting.length === 0) return this.#closing?.()
    const batch = this.#waiting.length > BATCH ? this.#waiting.splice(0, BATCH) : this.#waiting
    if (batch === this.#waiting) this.#waiting = []
    const jobs = batch.map((one) => one.job)
    const extra = this.before(Date.now())
    this.#running = true
    this.committer.commit(extra.length > 0 ? [...jobs, ...extra] : jobs, (outcomes) => {
      this.#running = false
      this.commits++
      this.committed += batch.length
      this.#judge(outcomes)
      // before the answers: while they go out the disk has the next batch already
      if (this.#waiting.length > 0) this.#post()
      for (const [index, one] of batch.entries()) {
        const outcome = outcomes[index]
        one.done(outcome === undefined ? { failed: 'the writer has ended' } : outcome)
      }
      this.after()
      if (!this.#running && this.#waiting.length === 0) this.#closing?.()
    })
  }
}

const diskFault = (outcome: Outcome): string | null =>
  outcome !== null && 'failed' in outcome && isDiskFault(outcome.failed) ? outcome.failed : null

function failed(operation: string, reason: string): Refusal {
  return new Refusal('store_unavailable', `the store could not write: ${reason}`, { operation, retry_after_ms: 1000 })
}
