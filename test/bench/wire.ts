// One raw TCP connection, a request and a reply at a time. Raw, so that the client costs the same whoever is measured.

/** How replies of a protocol are framed, and what a good one is: a status alone proves nothing. */
export type Protocol = {
  /** Length of the first complete reply in `bytes`, or 0. */
  readonly frame: (bytes: Buffer) => number
  /** Bytes at the front that answer no request. */
  readonly noise?: (bytes: Buffer) => number
  /** What connection number `n` says before its first request; it is not answered. */
  readonly greeting?: (n: number) => Buffer
}

export type Connection = {
  send(request: Buffer): void
  close(): void
}

/** Opens a connection to loopback; `onReply` gets each complete reply. A lost connection ends the benchmark, or is `onLost`. */
export async function connect(
  port: number,
  protocol: Protocol,
  onReply: (reply: Buffer) => void,
  onLost: () => void = () => {
    // what is thrown inside a socket handler is printed, and the benchmark would wait for ever
    process.stderr.write(`port ${port} closed a connection\n`)
    process.exit(1)
  },
): Promise<Connection> {
  let rest: Buffer | null = null
  let closed = false
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      data(_, bytes) {
        const whole: Buffer = rest ? Buffer.concat([rest, bytes]) : bytes
        const all = protocol.noise ? whole.subarray(protocol.noise(whole)) : whole
        const length = protocol.frame(all)
        rest = length === 0 ? all : null
        if (length > 0) onReply(all)
      },
      close() {
        if (!closed) onLost()
      },
    },
  })
  socket.setNoDelay(true)
  return {
    send(request) {
      if (closed) return
      if (socket.write(request) < request.length) throw new Error('a request did not fit into the socket')
    },
    close() {
      closed = true
      socket.end()
    },
  }
}

export type Asker = { ask(request: Buffer): Promise<Buffer>; tell(words: Buffer): void; close(): void }

/** A connection that is asked and waited for. */
export async function asker(port: number, protocol: Protocol): Promise<Asker> {
  let answer: (reply: Buffer) => void = () => {}
  // the reply may lie in the socket's buffer, which is used again
  const connection = await connect(port, protocol, (reply) => answer(Buffer.from(reply)))
  return {
    ask(request) {
      const { promise, resolve } = Promise.withResolvers<Buffer>()
      answer = resolve
      connection.send(request)
      return promise
    },
    tell: (words) => connection.send(words),
    close: () => connection.close(),
  }
}
