// The Unix socket door: each connection's process is taken at accept, then HTTP on it goes to the same app.
import { rmSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import type { Socket } from 'node:net'
import type { Attestor, UnixPeer } from '../attest/attestor.ts'
import { cameOver } from './http/caller.ts'
import type { Serve } from './listen.ts'
import type { Log } from './log.ts'
import { receive, respond } from './socket-http.ts'
import { listenPrivately } from './unix.ts'

export type SocketDoor = {
  readonly path: string
  /** Takes no new connections; closes them all after `ms`. The file goes with it. */
  stop(ms: number): Promise<void>
}

/**
 * Listens on a socket of mode 0600 in a folder of mode 0700. A file left by a daemon that is gone is replaced.
 * @throws Refusal `bad_permissions`, `port_taken` when somebody answers there, `usage` when the path is too long
 */
export async function listenOnSocket(path: string, attestor: Attestor, serve: Serve, log: Log): Promise<SocketDoor> {
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
  const server = await listenPrivately(path, '--socket', (socket, fd) => {
    peers.set(socket, attestor.accept(fd))
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    http.emit('connection', socket)
  })

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
