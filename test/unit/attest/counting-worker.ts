// A worker that answers how many questions it was asked, as the number of processes, and takes its time.
import { parentPort } from 'node:worker_threads'

let asked = 0
parentPort?.on('message', async () => {
  asked++
  await Bun.sleep(20)
  parentPort?.postMessage({ holders: [], unreadable: [], forkMark: 0, processes: asked, complete: true, errno: 0 })
})
