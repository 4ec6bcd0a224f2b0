// Group commit: jobs that arrive while a commit runs share the next one. Bounded; each job gets its own answer after the fsync.
import { Refusal } from '../wire/refusal.ts'
import { isDamage, isDiskFault } from './disk.ts'
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

/**
 * Looks, a second apart, at one and the same commit, after which nobody waits for the disk any more. Looks and not a time: a
 * process that was stopped, or a machine that slept, finds its commit old and its disk well.
 */
const PATIENCE = 10
const LOOK_MS = 1_000
/** Milliseconds that a stop waits for the commit under way. */
const LAST_MS = 5_000

type Waiting = { job: Job; done: (outcome: Outcome) => void; reject: (refusal: Refusal) => void }

export class Queue {
  #waiting: Waiting[] = []
  /** What the writer has, oldest first. */
  #taken: Waiting[] = []
  #scheduled = false
  #closing: (() => void) | null = null
  #closed = false
  #broken: string | null = null
  #fault: string | null = null
  #damage: string | null = null
  #stalled = false
  #retry: Timer | null = null
  #watch: Timer | null = null
  #looks = 0
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

  /** Why nothing can be written: damage, which stays; or the disk, until a batch could be written again. */
  get fault(): string | null {
    if (this.#damage !== null) return `the store is damaged: ${this.#damage}`
    return this.#broken ?? (this.#stalled ? SILENT : this.#fault)
  }

  /** The store is damaged: what is put back in its place will not have what would be written from now on, so nothing is. */
  damaged(reason: string): void {
    this.#damage ??= reason
  }

  get queued(): number {
    return this.#waiting.length
  }

  /** `apply` runs right after the commit, in commit order, before the promise resolves. */
  submit<K extends Job['k'], T>(job: JobOf<K>, apply: (outcome: Results[K]) => T): Promise<T> {
    if (this.#closed)
      return Promise.reject(new Refusal('shutting_down', 'the mailbox is stopping', { retry_after_ms: 1000 }))
    if (this.#broken !== null) return Promise.reject(failed(job.k, this.#broken))
    if (this.#damage !== null) return Promise.reject(damagedStore(this.#damage))
    if (this.#stalled) return Promise.reject(failed(job.k, SILENT))
    if (this.#waiting.length >= LIMIT)
      return Promise.reject(new Refusal('busy', 'the write queue is full', { retry_after_ms: 250, limit: LIMIT }))
    return new Promise<T>((resolve, reject) => {
      const done = (outcome: Outcome): void => {
        if (outcome !== null && 'failed' in outcome)
          return reject(isDamage(outcome.failed) ? damagedStore(outcome.failed) : failed(job.k, outcome.failed))
        try {
          // the writer answers each job with the result of its kind; the type of the pair is lost on the way
          resolve(apply(outcome as Results[K]))
        } catch (error) {
          reject(error)
        }
      }
      this.#waiting.push({ job, done, reject })
      this.#schedule()
    })
  }

  /** The writer is gone: what waits and what comes is refused; nothing was acknowledged. */
  break(reason: string): void {
    this.#broken = reason
    for (const { done } of [...this.#taken.splice(0), ...this.#waiting.splice(0)]) done({ failed: reason })
    this.#closing?.()
  }

  /**
   * Resolves when all that was accepted is committed; nothing more is accepted. To false when the writer or
   * the disk does not answer: the commit under way, of which nobody was told, is left to it.
   */
  async close(): Promise<boolean> {
    if (this.#closed) return true
    this.#closed = true
    if (this.#retry) clearTimeout(this.#retry)
    if (this.#broken === null && !this.#idle) {
      const left = Promise.withResolvers<void>()
      this.#closing = left.resolve
      const timer = setTimeout(() => this.#stall(), this.#stalled ? 0 : LAST_MS)
      await left.promise
      clearTimeout(timer)
    }
    if (this.#watch) clearInterval(this.#watch)
    if (this.#stalled || this.#broken !== null) return false
    await this.committer.close()
    return true
  }

  #look(): void {
    if (this.#taken.length === 0) this.#looks = 0
    else if (++this.#looks === PATIENCE) this.#stall()
  }

  /** What waits was never begun; what is under way may yet be written, or not. */
  #stall(): void {
    this.#stalled = true
    for (const { job, reject } of this.#waiting.splice(0)) reject(failed(job.k, SILENT))
    for (const { job, reject } of this.#taken) reject(unsure(job.k))
    this.#closing?.()
  }

  /** After a fault of the disk something is written now and then, so that its end is seen though nobody sends. */
  #judge(outcomes: readonly Outcome[]): void {
    for (const outcome of outcomes)
      if (outcome !== null && 'failed' in outcome && isDamage(outcome.failed)) this.damaged(outcome.failed)
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
    for (const job of this.before(Date.now())) given.push({ job, done: () => {}, reject: () => {} })
    this.#taken.push(...given)
    this.#watch ??= setInterval(() => this.#look(), LOOK_MS).unref()
    this.committer.take(given.map((one) => one.job))
  }

  #answered(outcomes: readonly Outcome[]): void {
    const answered = this.#taken.splice(0, outcomes.length)
    this.#looks = 0
    this.#stalled = false
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

const SILENT = 'the disk does not answer'

/** Rejected before it was answered: only repeating it, as the same, tells. */
const unsure = (operation: string): Refusal =>
  new Refusal(
    'store_unavailable',
    `${SILENT}; it is not known whether this will be stored`,
    { operation, retry_after_ms: 10_000 },
    'ask again with the same idempotency_key; without one, look first at what you sent',
  )

const damagedStore = (reason: string): Refusal => new Refusal('damaged_store', `the store is damaged: ${reason}`)

function failed(operation: string, reason: string): Refusal {
  return new Refusal('store_unavailable', `the store could not write: ${reason}`, { operation, retry_after_ms: 1000 })
}
