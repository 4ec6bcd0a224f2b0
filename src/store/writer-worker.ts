// Thread entry: the writer on its own connection. One message in = one batch of jobs; one message out = their outcomes.
import { connect } from './connect.ts'
import { type pack, unpack } from './jobs/pack.ts'
import { Writer } from './writer.ts'

declare const self: Worker

let writer: Writer | null = null
let close = () => {}

self.onmessage = ({ data }: MessageEvent<{ open: string } | { jobs: ReturnType<typeof pack> } | { close: true }>) => {
  if ('open' in data) {
    const db = connect(data.open, 'FULL')
    writer = new Writer(db)
    close = () => db.close()
    postMessage({ ready: true })
  } else if ('jobs' in data) {
    postMessage({ outcomes: writer?.run(unpack(data.jobs)) ?? [] })
  } else {
    close()
    postMessage({ closed: true })
  }
}
