// A WebSocket client over a Unix socket: text frames, no extensions (RFC 6455), for the app-server of Codex.
import { createHash, randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'

export type WebSocketLike = { send(text: string): void; close(): void }

/** Bytes of one message; a longer one ends the connection. */
const LONGEST = 16 * 1024 * 1024
/** RFC 6455 1.3 */
const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** Resolves once the upgrade is done. Rejects where nobody listens, or speaks something else. */
export function openWebSocket(
  path: string,
  on: { text(text: string): void; close(): void },
  signal: AbortSignal,
): Promise<WebSocketLike> {
  const { promise, resolve, reject } = Promise.withResolvers<WebSocketLike>()
  const socket = connect(path)
  const key = randomBytes(16).toString('base64')
  const accept = createHash('sha1')
    .update(key + MAGIC)
    .digest('base64')
  let buffer = Buffer.alloc(0)
  let isOpen = false
  const abort = () => socket.destroy(new Error('aborted'))
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  const frames = new Frames(
    on.text,
    (data) => write(socket, 10, data),
    () => socket.end(),
  )
  socket.on('connect', () =>
    socket.write(
      [
        'GET / HTTP/1.1',
        'Host: localhost',
        'Upgrade: websocket',
        'Connection: Upgrade',
        `Sec-WebSocket-Key: ${key}`,
        'Sec-WebSocket-Version: 13',
        '',
        '',
      ].join('\r\n'),
    ),
  )
  socket.on('error', reject)
  socket.on('close', () => {
    signal.removeEventListener('abort', abort)
    reject(new Error('closed'))
    on.close()
  })
  socket.on('data', (data: Buffer) => {
    buffer = Buffer.concat([buffer, data])
    if (buffer.length > LONGEST) return socket.destroy(new Error('too long'))
    if (!isOpen) {
      const end = buffer.indexOf('\r\n\r\n')
      if (end < 0) return
      const head = buffer.subarray(0, end).toString('latin1')
      buffer = buffer.subarray(end + 4)
      if (!/^HTTP\/1\.1 101 /.test(head) || !head.includes(accept)) return socket.destroy(new Error('no WebSocket'))
      isOpen = true
      resolve({
        send: (text) => write(socket, 1, Buffer.from(text)),
        close: () => {
          write(socket, 8, Buffer.alloc(0))
          socket.end()
        },
      })
    }
    buffer = frames.take(buffer)
  })
  return promise
}

/** A client masks what it sends: RFC 6455 5.3. */
function write(socket: Socket, opcode: number, data: Buffer): void {
  const mask = randomBytes(4)
  const head = Buffer.alloc(data.length < 126 ? 2 : data.length < 65_536 ? 4 : 10)
  head[0] = 0x80 | opcode
  if (head.length === 2) head[1] = 0x80 | data.length
  else if (head.length === 4) {
    head[1] = 0x80 | 126
    head.writeUInt16BE(data.length, 2)
  } else {
    head[1] = 0x80 | 127
    head.writeBigUInt64BE(BigInt(data.length), 2)
  }
  const masked = Buffer.from(data.map((byte, at) => byte ^ (mask[at & 3] ?? 0)))
  if (!socket.destroyed) socket.write(Buffer.concat([head, mask, masked]))
}

/** Frames of a server, which are not masked, put together to messages: RFC 6455 5.2, 5.4. */
class Frames {
  #parts: Buffer[] = []

  constructor(
    readonly text: (text: string) => void,
    readonly pong: (data: Buffer) => void,
    readonly end: () => void,
  ) {}

  /** What is left over until more comes. */
  take(buffer: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> {
    for (;;) {
      const [first, second] = buffer
      if (first === undefined || second === undefined) return buffer
      let length = second & 127
      let at = 2
      if (length === 126) {
        if (buffer.length < 4) return buffer
        length = buffer.readUInt16BE(2)
        at = 4
      } else if (length === 127) {
        if (buffer.length < 10) return buffer
        length = Number(buffer.readBigUInt64BE(2))
        at = 10
      }
      if (buffer.length < at + length) return buffer
      this.#frame(first & 15, (first & 128) !== 0, buffer.subarray(at, at + length))
      buffer = buffer.subarray(at + length)
    }
  }

  #frame(opcode: number, final: boolean, data: Buffer): void {
    if (opcode === 9) return this.pong(data)
    if (opcode === 8) return this.end()
    if (opcode > 2) return
    this.#parts.push(data)
    if (!final) return
    const text = Buffer.concat(this.#parts).toString('utf8')
    this.#parts = []
    this.text(text)
  }
}
