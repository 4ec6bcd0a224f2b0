// Group commit: jobs that arrive while a commit runs share the next one. Bounded; each job gets its own answer after the fsync.
import { Refusal } from '../wire/refusal.ts'
import { isDiskFault } from './disk.ts'
import type { Job, JobOf, Outcome, Results } from './jobs/job.ts'

/** Where jobs are committed: the writer thread, or the writer itself for a store in memory. */
export type Committer = {
  /** Takes jobs, which are committed after those that it has; they may share the next commit. */
  take(jobs: readonly Job[]): void
  /** Told of each commit: the outcomes of the oldest jobs taken, in their order. */
  answered: (outcomes: readonly Outcome[]) => void
  close(): Promise<void>
}

/** Jobs that may wait; above it writes are refused `busy`. At 10 µs a job the newest waits some 100 ms. */
const LIMIT = 10_000
/** Jobs that the writer has at most. It commits all of them at once, so that they stay behind no further one. */
const TAKEN = 512
/** Milliseconds from a fault of the disk to the next try. */
const RETRY_MS = 2_000

type Waiting = { job: Job; done: (outcome: Outcome) => void }

export class Queue {
  #waiting: Waiting[] = []
  /** What the writer has, oldest first. */
  #taken: Waiting[] = []
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
  ) {
    committer.answered = (outcomes) => this.#answered(outcomes)
  }

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
    for (const { done } of [...this.#taken.splice(0), ...this.#waiting.splice(0)]) done({ failed: reason })
    this.#closing?.()
  }

  /** Resolves when all that was accepted is committed; nothing more is accepted. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    if (this.#retry) clearTimeout(this.#retry)
    if (this.#broken === null && !this.#idle)
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
    if (this.#scheduled || this.#taken.length >= TAKEN) return
    this.#scheduled = true
    // one turn of the event loop gathers what arrived together; a timer window would only add latency (measured)
    setImmediate(() => {
      this.#scheduled = false
      this.#give()
    })
  }

  /** Whatever waits goes to the writer at once: when a commit ends it has the next one already, and waits for nobody's answers. */
  #give(): void {
    if (this.#broken !== null) return
    const given = this.#waiting.splice(0, TAKEN - this.#taken.length)
    if (given.length === 0) return
    for (const job of this.before(Date.now())) given.push({ job, done: () => {} })
    this.#taken.push(...given)
    this.committer.take(given.map((one) => one.job))
  }

  #answered(outcomes: readonly Outcome[]): void {
    const answered = this.#taken.splice(0, outcomes.length)
    this.commits++
    this.committed += answered.length
    this.#judge(outcomes)
    if (this.#waiting.length > 0) this.#schedule()
    for (const [index, one] of answered.entries()) one.done(outcomes[index] ?? null)
    this.after()
    if (this.#idle) this.#closing?.()
  }

  get #idle(): boolean {
    return this.#taken.length === 0 && this.#waiting.length === 0
  }
}

const diskFault = (outcome: Outcome): string | null =>
  outcome !== null && 'failed' in outcome && isDiskFault(outcome.failed) ? outcome.failed : null

function failed(operation: string, reason: string): Refusal {
  return new Refusal('store_unavailable', `the store could not write: ${reason}`, { operation, retry_after_ms: 1000 })
}
