// Thread entry: the writer on its own connection. One message in = one batch of jobs; one message out = their outcomes.
import { connect } from './connect.ts'
import { type pack, unpack } from './jobs/pack.ts'
import { restAfterWork } from './rest.ts'
import { orReason } from './thread.ts'
import { Writer } from './writer.ts'

declare const self: Worker

let writer: Writer | null = null
let close = () => {}
const worked = restAfterWork()

self.onmessage = ({ data }: MessageEvent<{ open: string } | { jobs: ReturnType<typeof pack> } | { close: true }>) => {
  if ('open' in data) {
    postMessage(orReason(() => open(data.open)))
  } else if ('jobs' in data) {
    postMessage({ outcomes: writer?.run(unpack(data.jobs)) ?? [] })
    worked()
  } else {
    close()
    postMessage({ closed: true })
  }
}

function open(path: string): { ready: true } {
  const db = connect(path, 'FULL')
  writer = new Writer(db)
  close = () => db.close()
  return { ready: true }
}
