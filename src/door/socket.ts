// The Unix socket door: each connection's process is taken at accept, then HTTP on it goes to the same app.
import { rmSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import type { Socket } from 'node:net'
import type { Attestor, UnixPeer } from '../attest/attestor.ts'
import { type Connection, cameOver } from './http/caller.ts'
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
  const connections = new WeakMap<object, Connection>()
  const open = new Set<Socket>()
  // Bun.serve does not tell who connected to a Unix socket; node:net gives the descriptor while it is surely open
  const http = createHttpServer({ requestTimeout: 0, headersTimeout: 10_000, keepAliveTimeout: 255_000 })
  http.on('request', async (incoming, outgoing) => {
    try {
      const request = await receive(incoming, outgoing)
      const connection = connections.get(incoming.socket)
      if (connection) cameOver(request, connection)
      await respond(await serve(request), outgoing)
    } catch (error) {
      log.debug('connection lost', { error: error instanceof Error ? error.message : String(error) })
      outgoing.destroy()
    }
  })
  const server = await listenPrivately(path, '--socket', (socket, fd) => {
    const state = { isOpen: true }
    connections.set(socket, connectionOf(attestor, attestor.accept(fd), state))
    open.add(socket)
    socket.on('close', () => {
      state.isOpen = false
      open.delete(socket)
    })
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

/** Made here, so that whoever still counts it when it has ended keeps no socket. */
function connectionOf(attestor: Attestor, peer: UnixPeer, state: { readonly isOpen: boolean }): Connection {
  return { over: 'unix', attest: () => attestor.unix(peer), isOpen: () => state.isOpen }
}
