// The two places where a batch is committed: a writer thread for a store on disk, this thread for one in memory.
import type { Database } from 'bun:sqlite'
import type { Outcome } from './jobs/job.ts'
import { pack } from './jobs/pack.ts'
import type { Committer } from './queue.ts'
import { Writer } from './writer.ts'

/** A store in memory lives in one connection, so its writer does too. */
export function inlineCommitter(db: Database): Committer {
  const writer = new Writer(db)
  const committer: Committer = {
    take: (jobs) => queueMicrotask(() => committer.answered(writer.run(jobs))),
    answered: () => {},
    close: async () => {},
  }
  return committer
}

/** Starts the writer thread on `path`. `broken` is told if the thread dies; what it had is then not acknowledged. */
export async function threadCommitter(path: string, broken: (reason: string) => void): Promise<Committer> {
  const worker = new Worker(new URL('./writer-worker.ts', import.meta.url).href)
  const ready = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<void>()
  worker.onmessage = ({
    data,
  }: MessageEvent<{ ready: true } | { failed: string } | { closed: true } | { outcomes: Outcome[] }>) => {
    if ('failed' in data) return ready.reject(new Error(data.failed))
    if ('ready' in data) return ready.resolve()
    if ('closed' in data) return closed.resolve()
    committer.answered(data.outcomes)
  }
  worker.onerror = (event) => {
    const reason = `writer thread: ${event.message}`
    ready.reject(new Error(reason))
    broken(reason)
  }
  const committer: Committer = {
    take: (jobs) => worker.postMessage({ jobs: pack(jobs) }),
    answered: () => {},
    async close() {
      worker.postMessage({ close: true })
      await closed.promise
      worker.terminate()
    },
  }
  worker.postMessage({ open: path })
  await ready.promise
  return committer
}
