// Asks the worker for the holders of sockets: one pass at a time, shared by all sockets that are waiting when it begins.
import type { Worker } from 'node:worker_threads'
import type { ScanReport } from './holders.ts'

type Waiting = { inode: number; done: (report: ScanReport | null) => void }

/** A pass of a second would mean some hundred thousand open files; beyond this the worker is taken for dead. */
const PATIENCE_MS = 30_000

export class Scanner {
  #worker: Worker | undefined
  #next: Waiting[] = []
  #running: Waiting[] = []
  #deadline: ReturnType<typeof setTimeout> | undefined
  #open: () => Worker
  #closed = false

  constructor(open: () => Worker) {
    this.#open = open
  }

  /**
   * A pass that begins after this call, so that it sees whoever holds the socket now; null where the worker failed. The
   * report may be one that is not `complete`.
   * A pass that runs already is not joined: it may have looked at the holder's process too early.
   */
  scan(inode: number): Promise<ScanReport | null> {
    return new Promise((done) => {
      if (this.#closed) return done(null)
      this.#next.push({ inode, done })
      if (this.#running.length === 0) this.#start()
    })
  }

  #start() {
    if (this.#next.length === 0) return
    this.#running = this.#next
    this.#next = []
    this.#deadline = setTimeout(() => this.#fail(), PATIENCE_MS)
    try {
      this.#worker ??= this.#spawn()
      this.#worker.postMessage([...new Set(this.#running.map((waiting) => waiting.inode))])
    } catch {
      this.#fail() // the file of the worker is not there
    }
  }

  #spawn(): Worker {
    const worker = this.#open()
    worker.on('message', (report: ScanReport) => this.#finish(report))
    const failed = () => {
      if (this.#worker === worker) this.#fail()
    }
    worker.on('error', failed)
    worker.on('exit', failed)
    worker.unref()
    return worker
  }

  #finish(report: ScanReport | null) {
    clearTimeout(this.#deadline)
    const served = this.#running
    this.#running = []
    for (const waiting of served) waiting.done(report)
    this.#start()
  }

  /** Nobody is named without a proof: those who wait are told so, the next ones get a new worker. */
  #fail() {
    const worker = this.#worker
    this.#worker = undefined
    worker?.terminate()
    if (this.#running.length > 0) this.#finish(null)
  }

  close() {
    this.#closed = true
    const waiting = [...this.#running.splice(0), ...this.#next.splice(0)]
    clearTimeout(this.#deadline)
    const worker = this.#worker
    this.#worker = undefined
    worker?.postMessage('close')
    for (const one of waiting) one.done(null)
  }
}
