// Connections of the client: on a Unix socket nothing is sent before the kernel has said whose mailbox answers there.
import { Agent, type AgentOptions, type ClientRequestArgs } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { peerUid } from '../attest/peer-uid.ts'
import { Refusal } from '../wire/refusal.ts'

type Connected = (error: Error | null, socket: Duplex) => void

/** An agent whose Unix sockets lead to a process of our own user; others are closed, and the request fails `bad_permissions`. */
export class CheckedAgent extends Agent {
  constructor(
    options: AgentOptions,
    readonly uidOf: typeof peerUid = peerUid,
  ) {
    super(options)
  }

  /** node:http sends the request once `connected` was called with the socket. */
  override createConnection(options: ClientRequestArgs, connected?: Connected): Duplex | null | undefined {
    const path = options.socketPath
    if (!path || !connected) return super.createConnection(options, connected)
    const socket = connect({ path })
    const fail = (error: Error) => connected(error, socket)
    socket.once('error', fail)
    socket.once('connect', () => {
      socket.off('error', fail)
      const uid = this.uidOf(descriptorOf(socket))
      if (uid === null || uid === process.getuid?.()) return connected(null, socket)
      socket.on('error', () => {})
      socket.destroy()
      fail(foreign(path, uid))
    })
    return undefined
  }
}

/** Not public in node:net; a version without it gets -1, which is nobody's. */
function descriptorOf(socket: Socket): number {
  const handle: unknown = Reflect.get(socket, '_handle')
  const fd: unknown = typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'fd') : null
  return typeof fd === 'number' ? fd : -1
}

const foreign = (socket: string, uid: number): Refusal =>
  new Refusal(
    'bad_permissions',
    'the program that listens on the socket is not known to be yours, so no token is sent there',
    { socket, uid },
    'stop it, and start the mailbox as yourself: mail4agent serve',
  )
