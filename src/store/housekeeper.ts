// Main-thread side of the housekeeper: tells it of commits, waits for the search index and for copies. Inline for a store in memory.
import { Database } from 'bun:sqlite'
import { Refusal } from '../wire/refusal.ts'
import { isDamage } from './disk.ts'
import type { HousekeeperOrder } from './housekeeper-worker.ts'
import type { StoreReport } from './inspect.ts'
import { Projector } from './projector.ts'
import type { Verified } from './verify.ts'

export type Housekeeper = {
  /** A batch was committed. */
  committed(): void
  /**
   * What `look` finds in the index, once everything up to `upTo` is in it. An index that is damaged is made again first.
   * @throws Refusal `store_unavailable` when that takes too long, `damaged_store` when it cannot be made
   */
  index<T>(upTo: number, look: (index: Database) => T): Promise<T>
  /** False when after `ms` it is still at work, on a disk that does not answer, and was left there. */
  close(ms: number): Promise<boolean>
}

export function inlineHousekeeper(mail: Database): Housekeeper {
  let projector: Projector | null = null
  return {
    committed() {},
    async index(_upTo, look) {
      projector ??= new Projector(mail, ':memory:', '')
      while (projector.step(500) > 0);
      return look(projector.index)
    },
    async close() {
      projector?.close()
      return true
    },
  }
}

/** Milliseconds between ticks while there is work: measured as best for throughput. */
const TICK = 100
/** Milliseconds that a search waits for its index: a new index of a million letters takes longer, and is ready later. */
const INDEX_MS = 20_000

/** `damaged` is told when the letters themselves cannot be read. */
export async function threadHousekeeper(
  mail: string,
  search: string,
  epoch: string,
  damaged: (reason: string) => void,
): Promise<Housekeeper> {
  const worker = new Worker(new URL('./housekeeper-worker.ts', import.meta.url).href)
  const tickets = new Map<number, (failed: string | null) => void>()
  const ready = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<void>()
  let ticket = 0
  let last = 0
  let timer: Timer | null = null
  let reader: Database | null = null
  let dead: string | null = null
  const order = (one: HousekeeperOrder) => worker.postMessage(one)
  const plan = (): void => {
    timer ??= setTimeout(() => order({ tick: true, quiet: performance.now() - last > 2 * TICK }), TICK)
  }
  worker.onmessage = ({
    data,
  }: MessageEvent<
    | { ready: true }
    | { failed: string }
    | { closed: true }
    | { remade: true }
    | { ticket: number; failed: string | null }
    | { more: boolean; failed: string | null }
  >) => {
    if ('ready' in data) return ready.resolve()
    if ('closed' in data) return closed.resolve()
    if ('remade' in data) {
      reader?.close()
      reader = null
      return
    }
    if (!('ticket' in data || 'more' in data)) return ready.reject(new Error(data.failed))
    if (data.failed !== null && isDamage(data.failed)) damaged(data.failed)
    if ('ticket' in data) {
      tickets.get(data.ticket)?.(data.failed)
      tickets.delete(data.ticket)
      return
    }
    timer = null
    if (data.more || performance.now() - last < TICK) plan()
  }
  // without it the log only grows and search waits: the store still takes mail, so this is no reason to stop
  worker.onerror = (event) => {
    ready.reject(new Error(event.message))
    closed.resolve()
    dead = event.message
    for (const done of tickets.values()) done(dead)
    tickets.clear()
  }
  /** The connection to look in, once the index has everything. */
  async function caughtUp(upTo: number, anew: boolean): Promise<Database> {
    const done = Promise.withResolvers<string | null>()
    const own = ++ticket
    const late = setTimeout(() => done.resolve('the index is not ready yet'), INDEX_MS)
    tickets.set(own, done.resolve)
    if (dead === null) order({ catchUp: upTo, ticket: own, anew })
    else done.resolve(dead)
    const failed = await done.promise
    clearTimeout(late)
    tickets.delete(own)
    if (failed !== null) throw unsearchable(failed)
    return orUnsearchable(() => (reader ??= new Database(search, { readonly: true })))
  }
  order({ open: mail, search, epoch })
  await ready.promise
  plan()
  return {
    committed() {
      last = performance.now()
      plan()
    },
    async index(upTo, look) {
      const index = await caughtUp(upTo, false)
      try {
        return look(index)
      } catch (error) {
        if (!(error instanceof Error && isDamage(error.message))) throw error
        const remade = await caughtUp(upTo, true)
        return orUnsearchable(() => look(remade))
      }
    },
    async close(ms) {
      if (timer) clearTimeout(timer)
      // the last that closes moves the log of the index into it, and a reader cannot
      reader?.close()
      reader = null
      order({ close: true })
      const isClosed = await Promise.race([closed.promise.then(() => true), Bun.sleep(ms).then(() => false)])
      worker.terminate()
      return isClosed
    },
  }
}

function orUnsearchable<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw error instanceof Error ? unsearchable(error.message) : error
  }
}

const unsearchable = (reason: string): Refusal =>
  isDamage(reason)
    ? new Refusal('damaged_store', `the store is damaged: ${reason}`)
    : new Refusal(
        'store_unavailable',
        `search is not possible now: ${reason}`,
        { retry_after_ms: 5_000 },
        'try again; mail itself is not affected',
      )

/**
 * A consistent copy of the store at `path` in the new file `to`, made by a thread of its own: a gigabyte takes seconds, and
 * neither mail nor search shall wait for it. Resolves to what it holds, once it was checked; rejects with what SQLite says.
 */
export async function copyInThread(path: string, to: string): Promise<Verified> {
  return (await inThread<{ copied: Verified }>({ copy: path, to })).copied
}

/** A look through the store at `path` while it runs, by a thread of its own. Rejects with what SQLite says. */
export async function inspectInThread(path: string): Promise<StoreReport> {
  return (await inThread<{ report: StoreReport }>({ inspect: path })).report
}

function inThread<Answer>(order: HousekeeperOrder): Promise<Answer> {
  const worker = new Worker(new URL('./housekeeper-worker.ts', import.meta.url).href)
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  worker.onmessage = ({ data }: MessageEvent<Answer | { failed: string }>) =>
    isFailed(data) ? reject(new Error(data.failed)) : resolve(data)
  worker.onerror = (event) => reject(new Error(event.message))
  worker.postMessage(order)
  return promise.finally(() => worker.terminate())
}

const isFailed = (data: unknown): data is { failed: string } =>
  typeof data === 'object' && data !== null && 'failed' in data
