// Starts the thread of scan-worker.ts, from the source tree and from a compiled binary alike.
import { Worker } from 'node:worker_threads'

/** `scan-worker.ts` must be an entry point of the build: the compiled binary finds it by this very address. */
export function openScanWorker(): Worker {
  return new Worker(new URL('./scan-worker.ts', import.meta.url))
}
