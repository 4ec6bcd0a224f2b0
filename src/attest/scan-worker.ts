// The thread that searches the whole machine for the holders of sockets. An entry point of the build of its own.
import { parentPort } from 'node:worker_threads'
import { HolderScan } from './linux/holders.ts'

const scan = new HolderScan()

// what was opened through the C library outlives its thread: `close` gives it back, and ends the thread
parentPort?.on('message', (order: number[] | 'close') => {
  if (order !== 'close') return parentPort?.postMessage(scan.run(order))
  scan.close()
  parentPort?.close()
})
