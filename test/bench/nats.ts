// The NATS client protocol on a raw connection: a publish into a JetStream, acknowledged by a message to an inbox of our own.
import { BODY, RECIPIENTS, SUBJECT } from './letters.ts'
import { asker, type Protocol } from './wire.ts'

const READY = 64
const LETTER = JSON.stringify({ from: 'sender', subject: SUBJECT, body: BODY })
const inbox = (n: number): string => `_INBOX.bench.${n}`
const publish = (subject: string, n: number, text: string): Buffer =>
  Buffer.from(`PUB ${subject} ${inbox(n)} ${Buffer.byteLength(text)}\r\n${text}\r\n`)

/** `INFO`, `PING` and `PONG` answer nothing; an acknowledgement is `MSG subject sid bytes`, then so many bytes. */
export const NATS: Protocol = {
  noise(bytes) {
    let at = 0
    while (/^(INFO|PING|PONG|\+OK)/.test(bytes.toString('latin1', at, at + 4))) {
      const end = bytes.indexOf('\r\n', at)
      if (end < 0) return at
      at = end + 2
    }
    return at
  },
  frame(bytes) {
    const line = bytes.indexOf('\r\n')
    if (line < 0) return 0
    const head = bytes.toString('latin1', 0, line)
    if (!head.startsWith('MSG ')) throw new Error(`NATS: ${head}`)
    const whole = line + 4 + Number(head.slice(head.lastIndexOf(' ') + 1))
    return bytes.length < whole ? 0 : whole
  },
  greeting: (n) => Buffer.from(`CONNECT {"verbose":false,"pedantic":false}\r\nSUB ${inbox(n)} 1\r\n`),
}

/** Stored in the stream: an acknowledgement with its place there. */
export const stored = (reply: Buffer): boolean => reply.includes('"seq":')

/** A stream on disk that takes `box.*`. */
export async function createStream(port: number): Promise<void> {
  const line = await asker(port, NATS)
  line.tell(NATS.greeting?.(0) ?? Buffer.alloc(0))
  const config = { name: 'BOX', subjects: ['box.*'], storage: 'file', retention: 'limits', num_replicas: 1 }
  const limits = { max_consumers: -1, max_msgs: -1, max_bytes: -1, max_age: 0 }
  const reply = await line.ask(publish('$JS.API.STREAM.CREATE.BOX', 0, JSON.stringify({ ...config, ...limits })))
  if (reply.includes('"error"')) throw new Error(`NATS: ${reply.toString()}`)
  line.close()
}

export function publishes(): (n: number) => Buffer {
  const ready = new Map<number, Buffer[]>()
  let turn = 0
  return (n) => {
    let own = ready.get(n)
    if (!own) {
      own = Array.from({ length: READY }, (_, i) => publish(`box.${(i * 7919) % RECIPIENTS}`, n, LETTER))
      ready.set(n, own)
    }
    return own[turn++ % READY] ?? Buffer.alloc(0)
  }
}
