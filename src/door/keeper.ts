// The keeper: removes what has been kept for long enough, now and then, while the mailbox runs.
import type { Store } from '../store/store.ts'
import type { Log } from './log.ts'

/** Milliseconds: subscribers of the log first catch up after a start; a pass costs little where little is old. */
const FIRST_MS = 5 * 60_000
const EVERY_MS = 6 * 3_600_000

type Kept = { readonly keeping: Pick<Store['keeping'], 'retain'> }

/** Returns how to end it: the pass under way stops after its present step. */
export function startKeeper(store: Kept, log: Log, firstMs = FIRST_MS, everyMs = EVERY_MS): () => Promise<void> {
  const stopping = new AbortController()
  let pass: Promise<void> = Promise.resolve()
  let timer: Timer
  let before = Date.now()
  const plan = (ms: number): void => {
    timer = setTimeout(() => {
      // a clock that jumps ahead makes everything old: it is believed once it has stood until the next pass
      const now = Math.min(Date.now(), before)
      before = Date.now()
      pass = keep(store, log, now, stopping.signal).finally(() => {
        if (!stopping.signal.aborted) plan(everyMs)
      })
    }, ms)
  }
  plan(firstMs)
  return async () => {
    stopping.abort()
    clearTimeout(timer)
    await pass
  }
}

async function keep(store: Kept, log: Log, now: number, signal: AbortSignal): Promise<void> {
  try {
    const { messages, events, bytes } = await store.keeping.retain(now, signal)
    if (messages + events > 0) log.info('removed what was kept for long enough', { messages, events, bytes })
  } catch (error) {
    // the disk is full, or the mailbox stops: the next pass goes on where this one ended
    log.warn('retention stopped early', { error: error instanceof Error ? error.message : String(error) })
  }
}
