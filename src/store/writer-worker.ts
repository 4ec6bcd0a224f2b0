// Thread entry: the writer on its own connection. Messages in = jobs; one message out for each commit = the outcomes of its jobs.
import { connect } from './connect.ts'
import type { Job } from './jobs/job.ts'
import { type pack, unpack } from './jobs/pack.ts'
import { orReason } from './thread.ts'
import { Writer } from './writer.ts'

declare const self: Worker

let writer: Writer | null = null
let close = () => {}
let waiting: Job[] = []

self.onmessage = ({ data }: MessageEvent<{ open: string } | { jobs: ReturnType<typeof pack> } | { close: true }>) => {
  if ('open' in data) {
    postMessage(orReason(() => open(data.open)))
  } else if ('jobs' in data) {
    // what came while the last commit ran is all there already, and shares the next one
    if (waiting.length === 0) setImmediate(commit)
    waiting.push(...unpack(data.jobs))
  } else {
    close()
    postMessage({ closed: true })
  }
}

function commit(): void {
  const jobs = waiting
  waiting = []
  postMessage({ outcomes: writer?.run(jobs) ?? [] })
}

function open(path: string): { ready: true } {
  const db = connect(path, 'FULL')
  writer = new Writer(db)
  close = () => db.close()
  return { ready: true }
}
