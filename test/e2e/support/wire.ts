// HTTP/1.1 over one keep-alive socket, by hand: as many connections as a test wants, and the bytes as they were sent.
import { connect, type Socket } from 'node:net'

export type WireAnswer = { status: number; headers: string; text: string; bytes: number; body: any }

type Asked = { resolve: (answer: WireAnswer) => void; reject: (error: Error) => void }

/** Requests are answered in order; once the connection is gone, the ones without an answer fail. */
export class Wire {
  readonly #socket: Socket
  readonly #asked: Asked[] = []
  #parts: Buffer[] = []
  #held = 0
  /** Bytes from which on there may be a whole answer. */
  #needed = 1

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.on('data', (part: Buffer) => this.#take(part))
    socket.on('error', () => {})
    socket.on('close', () => {
      for (const { reject } of this.#asked.splice(0)) reject(new Error('the connection is gone'))
    })
  }

  /** A port of 127.0.0.1, or the path of a socket. */
  static open(where: number | string): Promise<Wire> {
    return new Promise((resolve, reject) => {
      const socket = connect(
        typeof where === 'string' ? { path: where } : { host: '127.0.0.1', port: where, autoSelectFamily: false },
      )
      socket.once('error', reject)
      socket.once('connect', () => resolve(new Wire(socket)))
    })
  }

  static many(where: number | string, count: number): Promise<Wire[]> {
    return Promise.all(Array.from({ length: count }, () => Wire.open(where)))
  }

  post(path: string, token: string, request: unknown, more: Record<string, string> = {}): Promise<WireAnswer> {
    const body = JSON.stringify(request)
    const headers = {
      host: '127.0.0.1',
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      ...more,
    }
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    return new Promise((resolve, reject) => {
      if (this.#socket.destroyed) return reject(new Error('the connection is gone'))
      this.#asked.push({ resolve, reject })
      this.#socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
    })
  }

  /** As a client that is gone: without a word. */
  cut(): void {
    this.#socket.destroy()
  }

  #take(part: Buffer): void {
    this.#parts.push(part)
    this.#held += part.length
    while (this.#held >= this.#needed && this.#one());
  }

  /** Takes one answer off the front, if it is there. */
  #one(): boolean {
    const all = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts)
    this.#parts = [all]
    const end = all.indexOf('\r\n\r\n')
    if (end < 0) return false
    const headers = all.toString('latin1', 0, end)
    const length = Number(/^content-length: *(\d+)/im.exec(headers)?.[1] ?? 0)
    this.#needed = end + 4 + length
    if (all.length < this.#needed) return false
    const text = all.toString('utf8', end + 4, this.#needed)
    this.#parts = [all.subarray(this.#needed)]
    this.#held = all.length - this.#needed
    const status = Number(headers.split(' ', 2)[1])
    this.#needed = 1
    this.#asked.shift()?.resolve({ status, headers, text, bytes: length, body: text ? JSON.parse(text) : {} })
    return true
  }
}

/** The answer of a call that has to be accepted. */
export async function accepted(answer: Promise<WireAnswer>): Promise<any> {
  const { status, body } = await answer
  if (status !== 200) throw new Error(`answered ${status}: ${JSON.stringify(body)}`)
  return body
}
