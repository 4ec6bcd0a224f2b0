// Parked readers: who waits for mail, by mailbox; woken in memory by the commit that brings it, a slice per turn of the loop.
import type { Parking } from '../engine/mail.ts'
import { KIND } from '../store/rows.ts'
import type { Commit, Store } from '../store/store.ts'

type Waiter = { readonly boxes: readonly number[]; readonly finish: (woken: boolean) => void }

/** Readers answered in one turn: each then reads its page, so a thousand at once would keep everybody else waiting. */
const SLICE = 16

/** The readers of one mailbox daemon. Nothing here polls: a wait costs one timer, one abort listener and two set entries. */
export class Waiters implements Parking {
  readonly #store: Pick<Store, 'registry'>
  readonly #byBox = new Map<number, Set<Waiter>>()
  readonly #all = new Set<Waiter>()
  readonly #ready: Waiter[] = []
  readonly #unsubscribe: () => void
  #stopped = false

  constructor(store: Pick<Store, 'onCommit' | 'registry'>) {
    this.#store = store
    this.#unsubscribe = store.onCommit((commits) => this.#onCommit(commits))
  }

  /** Resolves to true when woken; to false after `ms`, when `signal` aborts, and at shutdown. Never rejects. */
  wait(boxes: readonly number[], ms: number, signal: AbortSignal, recheck: () => boolean): Promise<boolean> {
    if (this.#stopped || signal.aborted) return Promise.resolve(false)
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const abort = () => waiter.finish(false)
    const timer = setTimeout(abort, ms)
    const waiter: Waiter = {
      boxes,
      finish: (woken) => {
        clearTimeout(timer)
        signal.removeEventListener('abort', abort)
        this.#remove(waiter)
        resolve(woken)
      },
    }
    this.#add(waiter)
    signal.addEventListener('abort', abort)
    try {
      if (recheck()) waiter.finish(true)
    } catch {
      waiter.finish(true) // the reader looks again and meets the error where it can be answered
    }
    return promise
  }

  parked(box: number): number {
    return this.#byBox.get(box)?.size ?? 0
  }

  wake(box: number): void {
    const idle = this.#ready.length === 0
    this.#take(box, 0)
    if (idle && this.#ready.length > 0) this.#answer()
  }

  /** All parked readers. */
  get size(): number {
    return this.#all.size
  }

  /** Answers everybody, and from now on every wait at once. */
  stop(): void {
    this.#stopped = true
    this.#unsubscribe()
    for (const waiter of this.#all) waiter.finish(false)
  }

  #onCommit(commits: readonly Commit[]): void {
    if (this.#all.size === 0) return
    const idle = this.#ready.length === 0
    for (const commit of commits) {
      if (commit.kind === 'sent') {
        // A sender never gets its own room post as new mail; its siblings share the account's box and do.
        for (const to of commit.recipients) this.#take(to.box, to.kind === KIND.room ? commit.senderBox : 0)
      } else if (commit.event.kind === 'reopened' || commit.event.kind === 'released') {
        // Each session of the account reads the account's box, so this reaches the one whose box it was too.
        const account = this.#store.registry.accountById(commit.event.account)
        if (account) this.#take(account.box, 0)
      }
    }
    if (idle && this.#ready.length > 0) this.#answer()
  }

  /** Takes the readers of `box` out, except those who read `not` too, and queues them in the order in which they came. */
  #take(box: number, not: number): void {
    for (const waiter of this.#byBox.get(box) ?? []) {
      if (waiter.boxes.includes(not)) continue
      this.#unpark(waiter)
      this.#ready.push(waiter)
    }
  }

  #answer(): void {
    for (const waiter of this.#ready.splice(0, SLICE)) waiter.finish(true)
    if (this.#ready.length > 0) setImmediate(() => this.#answer())
  }

  #add(waiter: Waiter): void {
    this.#all.add(waiter)
    for (const box of waiter.boxes) {
      const readers = this.#byBox.get(box)
      if (readers) readers.add(waiter)
      else this.#byBox.set(box, new Set([waiter]))
    }
  }

  #remove(waiter: Waiter): void {
    this.#unpark(waiter)
    this.#all.delete(waiter)
  }

  #unpark(waiter: Waiter): void {
    for (const box of waiter.boxes) {
      const readers = this.#byBox.get(box)
      if (readers?.delete(waiter) && readers.size === 0) this.#byBox.delete(box)
    }
  }
}
