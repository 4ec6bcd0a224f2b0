// The command socket: one JSON line a request, one JSON line an answer, in their order; whoever calls is told by the kernel.
import { rmSync } from 'node:fs'
import type { Socket } from 'node:net'
import type { Attestor } from '../attest/attestor.ts'
import type { LineAnswer } from '../wire/command.ts'
import { LIMITS } from '../wire/limits.ts'
import { tooLarge } from '../wire/refusal.ts'
import { answerLine, refusalLine } from './command-line.ts'
import type { Door } from './http/door.ts'
import type { SocketDoor } from './socket.ts'
import { LONGEST, listenPrivately } from './unix.ts'

/** Milliseconds without a byte after which a connection is closed; a command may wait for a homeserver that long. */
const IDLE_MS = 120_000
/** Connections at once; further ones are closed. */
const CONNECTIONS = 256
const NEWLINE = 10

/**
 * Listens on a socket of mode 0600. `setting` names where another path can be chosen.
 * @throws Refusal as `listenPrivately`
 */
export async function listenForCommands(
  path: string,
  setting: string,
  attestor: Attestor,
  door: Door,
): Promise<SocketDoor> {
  const open = new Set<Socket>()
  const accepted = (socket: Socket, fd: number) => {
    const peer = attestor.accept(fd)
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    socket.setTimeout(IDLE_MS, () => socket.destroy())
    serveLines(socket, async (line) => answerLine(door, await attestor.unix(peer), line))
  }
  // a caller may close its half and still wait for the answer: echo … | nc -U does
  const server = await listenPrivately(path, setting, accepted, { allowHalfOpen: true })
  server.maxConnections = CONNECTIONS
  return {
    path,
    async stop(ms) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      const timer = setTimeout(() => {
        for (const socket of open) socket.destroy()
      }, ms)
      for (const socket of open) socket.end()
      await closed
      clearTimeout(timer)
      rmSync(path, { force: true })
    },
  }
}

/** The usual path may be too long for a socket where the data folder lies deep: then there is none, as on Windows. */
export async function openCommandSocket(
  { path, given }: { path: string; given: boolean },
  attestor: Attestor,
  door: Door,
): Promise<SocketDoor | null> {
  if (given || Buffer.byteLength(path) <= LONGEST) return listenForCommands(path, 'M4A_SEND_SOCK', attestor, door)
  door.log.warn('no command socket: its path is too long', { path, hint: 'choose a shorter one with M4A_SEND_SOCK' })
  return null
}

/** Each line is answered before the next one is looked at; while one is, no more is read. */
function serveLines(socket: Socket, answer: (line: Uint8Array) => Promise<LineAnswer>): void {
  const lines = new Lines()
  let turn: Promise<void> = Promise.resolve()
  const say = (what: LineAnswer) => {
    if (socket.writable) socket.write(`${JSON.stringify(what)}\n`)
  }
  const answerAll = async (complete: readonly (Uint8Array | number)[]) => {
    for (const line of complete)
      say(typeof line === 'number' ? refusalLine(tooLarge('line', LIMITS.request, line)) : await answer(line))
  }
  const then = (work: () => Promise<void>) => {
    turn = turn.then(work).catch(() => void socket.destroy())
  }
  socket.on('data', (part: Uint8Array) => {
    socket.pause()
    then(async () => {
      await answerAll(lines.take(part))
      socket.resume()
    })
  })
  socket.on('end', () =>
    then(async () => {
      await answerAll(lines.rest())
      socket.end()
    }),
  )
}

/** Bytes to lines; of a line over the limit only its size is kept. */
class Lines {
  #parts: Uint8Array[] = []
  #size = 0

  /** The lines that end in `part`; a number is the size of one that was too long. */
  take(part: Uint8Array): (Uint8Array | number)[] {
    const complete: (Uint8Array | number)[] = []
    let from = 0
    for (let end = part.indexOf(NEWLINE); end >= 0; end = part.indexOf(NEWLINE, from)) {
      this.#add(part.subarray(from, end))
      complete.push(this.#line())
      from = end + 1
    }
    this.#add(part.subarray(from))
    return complete
  }

  /** What came behind the last newline, if anything did. */
  rest(): (Uint8Array | number)[] {
    return this.#size === 0 ? [] : [this.#line()]
  }

  #add(bytes: Uint8Array): void {
    this.#size += bytes.length
    if (this.#size > LIMITS.request) this.#parts = []
    else if (bytes.length > 0) this.#parts.push(bytes)
  }

  #line(): Uint8Array | number {
    const line = this.#size > LIMITS.request ? this.#size : Buffer.concat(this.#parts)
    this.#parts = []
    this.#size = 0
    return line
  }
}
