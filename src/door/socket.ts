// The Unix socket door: each connection's process is taken at accept, then HTTP on it goes to the same app.
import { chmodSync, lstatSync, rmSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { connect, createServer, type Socket } from 'node:net'
import { dirname } from 'node:path'
import type { Attestor, UnixPeer } from '../attest/attestor.ts'
import { diskRefusal } from '../store/disk.ts'
import { Refusal } from '../wire/refusal.ts'
import { privateFolder } from './folders.ts'
import { cameOver } from './http/caller.ts'
import type { Serve } from './listen.ts'
import type { Log } from './log.ts'
import { receive, respond } from './socket-http.ts'

export type SocketDoor = {
  readonly path: string
  /** Takes no new connections; closes them all after `ms`. The file goes with it. */
  stop(ms: number): Promise<void>
}

/** sun_path, unix(7), without its final NUL; macOS has four bytes less. */
const LONGEST = process.platform === 'darwin' ? 103 : 107

/**
 * Listens on a socket of mode 0600 in a folder of mode 0700. A file left by a daemon that is gone is replaced.
 * @throws Refusal `bad_permissions`, `port_taken` when somebody answers there, `usage` when the path is too long
 */
export async function listenOnSocket(path: string, attestor: Attestor, serve: Serve, log: Log): Promise<SocketDoor> {
  if (Buffer.byteLength(path) > LONGEST)
    throw new Refusal('usage', `the socket path is longer than ${LONGEST} bytes`, { path }, 'choose one with --socket')
  privateFolder(dirname(path), '--socket')
  await clear(path)

  const peers = new WeakMap<object, UnixPeer>()
  const open = new Set<Socket>()
  // Bun.serve does not tell who connected to a Unix socket; node:net gives the descriptor while it is surely open
  const http = createHttpServer({ requestTimeout: 0, headersTimeout: 10_000, keepAliveTimeout: 255_000 })
  http.on('request', async (incoming, outgoing) => {
    try {
      const request = await receive(incoming, outgoing)
      const peer = peers.get(incoming.socket)
      if (peer) cameOver(request, { over: 'unix', attest: () => attestor.unix(peer) })
      await respond(await serve(request), outgoing)
    } catch (error) {
      log.debug('connection lost', { error: error instanceof Error ? error.message : String(error) })
      outgoing.destroy()
    }
  })
  const server = createServer((socket) => {
    const fd = descriptor(socket)
    if (fd === null) return socket.destroy()
    peers.set(socket, attestor.accept(fd))
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    socket.on('error', () => socket.destroy()) // the client's reset is its own affair
    http.emit('connection', socket)
    return undefined
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(diskRefusal(error, path, 'choose another with --socket') ?? error))
    server.listen(path, resolve)
  })
  chmodSync(path, 0o600)

  return {
    path,
    async stop(ms) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      http.closeIdleConnections()
      const timer = setTimeout(() => {
        for (const socket of open) socket.destroy()
      }, ms)
      await closed
      clearTimeout(timer)
      rmSync(path, { force: true })
    },
  }
}

/** Removes a socket file on which nobody answers any more. */
async function clear(path: string): Promise<void> {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (!stats) return
  if (!stats.isSocket())
    throw new Refusal('port_taken', `${path} is there and is no socket`, { path }, 'choose another with --socket')
  const answers = await new Promise<boolean>((resolve) => {
    const probe = connect(path)
    probe.once('connect', () => resolve(true))
    probe.once('error', () => resolve(false))
    probe.once('close', () => probe.destroy())
  })
  if (answers)
    throw new Refusal('port_taken', `another program answers on ${path}`, { path }, 'choose another with --socket')
  rmSync(path, { force: true })
}

/** Not part of the documented interface of node:net, and the only way to the descriptor; a test watches that it stays. */
function descriptor(socket: Socket): number | null {
  const handle: unknown = Reflect.get(socket, '_handle')
  const fd: unknown = typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'fd') : null
  return typeof fd === 'number' && fd >= 0 ? fd : null
}
