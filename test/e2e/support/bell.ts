// Programs that a doorbell may reach: each counts who comes, keeps what was said, and answers well or badly.
import { createServer, type Server, type Socket } from 'node:net'

/** One request: its head in lower-case names, its exact body, and when it was there (ms of the monotonic clock). */
export type Ring = { line: string; headers: Record<string, string>; body: string; at: number }

export type Manner = (socket: Socket, ring: Ring) => void

export const answer =
  (status: string, more = ''): Manner =>
  (socket) =>
    socket.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\n${more}\r\n`)

/** Says on and on: `first`, then `piece` as fast as the other side takes it. */
export const endless =
  (first: string, piece: string): Manner =>
  (socket) => {
    socket.write(first)
    const more = () => {
      while (!socket.destroyed && socket.write(piece));
    }
    socket.on('drain', more)
    more()
  }

/** A byte now and then. */
export const dripping =
  (text: string, ms: number): Manner =>
  (socket) => {
    let at = 0
    const timer = setInterval(() => socket.write(text[at++ % text.length] ?? ''), ms)
    socket.on('close', () => clearInterval(timer))
  }

export const silent: Manner = () => {}

export class Bell {
  readonly rings: Ring[] = []
  /** Milliseconds that each connection lasted. */
  readonly lasted: number[] = []
  connections = 0
  /** Bytes that the other side took, connections together. */
  taken = 0
  readonly #open = new Set<Socket>()

  private constructor(
    readonly port: number,
    readonly server: Server,
  ) {}

  static start(manner: Manner, port = 0): Promise<Bell> {
    const server = createServer()
    return new Promise((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host: '127.0.0.1', port }, () => {
        const bound = server.address()
        const bell = new Bell(typeof bound === 'object' && bound ? bound.port : 0, server)
        server.on('connection', (socket) => bell.#greet(socket, manner))
        resolve(bell)
      })
    })
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/bell?x=1`
  }

  stop(): void {
    this.server.close()
    for (const socket of this.#open) socket.destroy()
  }

  #greet(socket: Socket, manner: Manner): void {
    const began = performance.now()
    this.connections++
    this.#open.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => {
      this.#open.delete(socket)
      this.taken += socket.bytesWritten - socket.writableLength
      this.lasted.push(performance.now() - began)
    })
    let text = ''
    let done = false
    socket.on('data', (part: Buffer) => {
      text += part.toString()
      const ring = done ? null : wholeOf(text)
      if (!ring) return
      done = true
      this.rings.push(ring)
      manner(socket, ring)
    })
  }
}

function wholeOf(text: string): Ring | null {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return null
  const [line = '', ...lines] = text.slice(0, end).split('\r\n')
  const headers = Object.fromEntries(
    lines.map((one) => [one.slice(0, one.indexOf(':')).toLowerCase(), one.slice(one.indexOf(':') + 1).trim()]),
  )
  const body = text.slice(end + 4)
  if (Buffer.byteLength(body) < Number(headers['content-length'] ?? 0)) return null
  return { line, headers, body, at: performance.now() }
}
