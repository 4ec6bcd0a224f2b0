// Main-thread side of the housekeeper: tells it of commits, waits for the search index and for copies. Inline for a store in memory.
import { Database } from 'bun:sqlite'
import type { HousekeeperOrder } from './housekeeper-worker.ts'
import type { StoreReport } from './inspect.ts'
import { Projector } from './projector.ts'
import type { Verified } from './verify.ts'

export type Housekeeper = {
  /** A batch was committed. */
  committed(): void
  /** Resolves to the connection to search in, once everything up to `upTo` is indexed. */
  index(upTo: number): Promise<Database>
  close(): Promise<void>
}

export function inlineHousekeeper(mail: Database): Housekeeper {
  let projector: Projector | null = null
  return {
    committed() {},
    async index() {
      projector ??= new Projector(mail, ':memory:', '')
      while (projector.step(500) > 0);
      return projector.index
    },
    async close() {
      projector?.close()
    },
  }
}

/** Milliseconds between ticks while there is work: measured as best for throughput. */
const TICK = 100

export async function threadHousekeeper(mail: string, search: string, epoch: string): Promise<Housekeeper> {
  const worker = new Worker(new URL('./housekeeper-worker.ts', import.meta.url).href)
  const tickets = new Map<number, () => void>()
  const ready = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<void>()
  let ticket = 0
  let last = 0
  let timer: Timer | null = null
  let reader: Database | null = null
  const order = (one: HousekeeperOrder) => worker.postMessage(one)
  const plan = (): void => {
    timer ??= setTimeout(() => order({ tick: true, quiet: performance.now() - last > 2 * TICK }), TICK)
  }
  worker.onmessage = ({
    data,
  }: MessageEvent<
    { ready: true } | { failed: string } | { closed: true } | { ticket: number } | { more: boolean }
  >) => {
    if ('failed' in data) return ready.reject(new Error(data.failed))
    if ('ready' in data) return ready.resolve()
    if ('closed' in data) return closed.resolve()
    if ('ticket' in data) {
      tickets.get(data.ticket)?.()
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
    for (const done of tickets.values()) done()
  }
  order({ open: mail, search, epoch })
  await ready.promise
  plan()
  return {
    committed() {
      last = performance.now()
      plan()
    },
    async index(upTo) {
      const done = Promise.withResolvers<void>()
      tickets.set(++ticket, done.resolve)
      order({ catchUp: upTo, ticket })
      await done.promise
      reader ??= new Database(search, { readonly: true })
      return reader
    },
    async close() {
      if (timer) clearTimeout(timer)
      order({ close: true })
      await closed.promise
      reader?.close()
      worker.terminate()
    },
  }
}

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
