// A door that attests its callers, and peers to call it: real sockets, real processes.
import { mkdtempSync, rmSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Attestor, openAttestor, type UnixPeer, type Verdict } from '../../../src/attest/attestor.ts'

export const onLinux = process.platform === 'linux'

/** Values in the order in which they came, each given once. */
export class Arrivals<T> {
  #values: T[] = []
  #waiting: ((value: T) => void)[] = []
  push(value: T) {
    const first = this.#waiting.shift()
    first ? first(value) : this.#values.push(value)
  }
  next(): Promise<T> {
    const first = this.#values.shift()
    return first === undefined ? new Promise((done) => this.#waiting.push(done)) : Promise.resolve(first)
  }
}

/** An HTTP server that attests each request as it comes, or, when gated, as `arrivals` hands the question out. */
export function openDoor(attestor: Attestor, hostname = '127.0.0.1', gated = false) {
  const verdicts = new Arrivals<Verdict>()
  const questions = new Arrivals<() => Verdict | Promise<Verdict>>()
  const server = Bun.serve({
    hostname,
    port: 0,
    idleTimeout: 60,
    async fetch(request, self) {
      const ask = () => attestor.tcp(() => self.requestIP(request), { address: hostname, port: self.port ?? 0 })
      if (gated) questions.push(ask)
      else verdicts.push(await ask())
      return gated ? new Promise<Response>(() => {}) : new Response('ok')
    },
  })
  return { port: server.port ?? 0, url: server.url.href, verdicts, questions, close: () => server.stop(true) }
}

/** A Unix socket that attests the sender of each chunk. */
export async function openUnixDoor(attestor: Attestor) {
  const folder = mkdtempSync(join(tmpdir(), 'm4a-attest-'))
  const path = join(folder, 'door.sock')
  const verdicts = new Arrivals<Verdict>()
  const peers = new Arrivals<UnixPeer>()
  const server = net.createServer((socket) => {
    const peer = attestor.accept(Number(Reflect.get(Reflect.get(socket, '_handle'), 'fd')))
    peers.push(peer)
    socket.on('data', async () => verdicts.push(await attestor.unix(peer)))
    socket.on('error', () => {})
  })
  await new Promise<void>((done) => server.listen(path, done))
  return {
    path,
    peers,
    verdicts,
    close() {
      server.close()
      rmSync(folder, { recursive: true })
    },
  }
}

export type Peer = Awaited<ReturnType<typeof startPeer>>

/** Starts peer.ts, through `wrap` if given, a command that runs its arguments. */
export async function startPeer(wrap: string[] = []) {
  const command = [...wrap, process.execPath, join(import.meta.dir, 'peer.ts')]
  const child = Bun.spawn(command, { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, M4A_TEST: 'here' } })
  const reader = child.stdout.getReader()
  let text = ''
  const line = async () => {
    while (!text.includes('\n')) {
      const chunk = await reader.read()
      if (chunk.done) throw new Error('the peer has ended')
      text += new TextDecoder().decode(chunk.value)
    }
    const end = text.indexOf('\n')
    const first = text.slice(0, end)
    text = text.slice(end + 1)
    return first
  }
  const ready = await line()
  return {
    pid: Number(ready.split(' ')[1]),
    child,
    /** carries out one order of peer.ts, answers what it said */
    async do(what: string, more: Record<string, unknown> = {}) {
      child.stdin.write(`${JSON.stringify({ do: what, ...more })}\n`)
      child.stdin.flush()
      return (await line()).slice('done '.length)
    },
    async kill() {
      process.kill(Number(ready.split(' ')[1]), 'SIGKILL')
      if (wrap.length === 0) await child.exited
    },
  }
}

/** Closes what a test opened, in reverse order. */
export function cleanUp() {
  const closers: (() => unknown)[] = []
  return {
    attestor() {
      const attestor = openAttestor()
      closers.push(() => attestor.close())
      return attestor
    },
    keep<T extends { close(): unknown }>(opened: T): T {
      closers.push(() => opened.close())
      return opened
    },
    async peer(wrap: string[] = []) {
      const peer = await startPeer(wrap)
      closers.push(async () => {
        peer.child.stdin.end()
        await Promise.race([peer.child.exited, Bun.sleep(500)])
        peer.child.kill('SIGKILL')
      })
      return peer
    },
    after(closer: () => unknown) {
      closers.push(closer)
    },
    async run() {
      for (const close of closers.splice(0).reverse()) await close()
    },
  }
}

/** Waits until it holds, for what the kernel does in its own time. */
export async function until(holds: () => boolean | Promise<boolean>, patienceMs = 5000) {
  for (const end = Date.now() + patienceMs; !(await holds()); await Bun.sleep(5)) {
    if (Date.now() > end) throw new Error('it did not come to hold in time')
  }
}

/** The process of a verdict that must be one. */
export function attested(verdict: Verdict) {
  if (!verdict.ok) throw new Error(`refused: ${verdict.kind} ${JSON.stringify(verdict.seen)}`)
  return verdict
}
