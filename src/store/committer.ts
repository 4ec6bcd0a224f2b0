// The two places where a batch is committed: a writer thread for a store on disk, this thread for one in memory.
import type { Database } from 'bun:sqlite'
import type { Outcome } from './jobs/job.ts'
import { pack } from './jobs/pack.ts'
import type { Committer } from './queue.ts'
import { Writer } from './writer.ts'

/** A store in memory lives in one connection, so its writer does too. */
export function inlineCommitter(db: Database): Committer {
  const writer = new Writer(db)
  return {
    commit: (jobs, done) => queueMicrotask(() => done(writer.run(jobs))),
    close: async () => {},
  }
}

/** Starts the writer thread on `path`. `broken` is told if the thread dies; its batch is then not acknowledged. */
export async function threadCommitter(path: string, broken: (reason: string) => void): Promise<Committer> {
  const worker = new Worker(new URL('./writer-worker.ts', import.meta.url).href)
  let pending: ((outcomes: readonly Outcome[]) => void) | null = null
  const ready = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<void>()
  worker.onmessage = ({
    data,
  }: MessageEvent<{ ready: true } | { failed: string } | { closed: true } | { outcomes: Outcome[] }>) => {
    if ('failed' in data) return ready.reject(new Error(data.failed))
    if ('ready' in data) return ready.resolve()
    if ('closed' in data) return closed.resolve()
    const done = pending
    pending = null
    done?.(data.outcomes)
  }
  worker.onerror = (event) => {
    const reason = `writer thread: ${event.message}`
    ready.reject(new Error(reason))
    const done = pending
    pending = null
    broken(reason)
    done?.([])
  }
  worker.postMessage({ open: path })
  await ready.promise
  return {
    commit(jobs, done) {
      pending = done
      worker.postMessage({ jobs: pack(jobs) })
    },
    async close() {
      worker.postMessage({ close: true })
      await closed.promise
      worker.terminate()
    },
  }
}
