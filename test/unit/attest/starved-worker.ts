// A worker that has no descriptor left for its searches.
import { parentPort } from 'node:worker_threads'

parentPort?.on('message', () =>
  parentPort?.postMessage({ holders: [], unreadable: [], forkMark: 0, processes: 0, complete: false, errno: 24 }),
)
