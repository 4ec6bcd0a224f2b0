// A Unix socket that only its owner can call: mode 0600 in a folder of 0700, never over somebody who answers there.
import { chmodSync, lstatSync, rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { diskRefusal } from '../store/disk.ts'
import { Refusal } from '../wire/refusal.ts'
import { privateFolder } from './folders.ts'

/** sun_path, unix(7), without its final NUL; macOS has four bytes less. */
export const LONGEST = process.platform === 'darwin' ? 103 : 107

/**
 * Listens; a file left by a daemon that is gone is replaced. `accepted` is given each connection with its descriptor, while
 * that is surely open. `setting` names where another path can be chosen.
 * @throws Refusal `bad_permissions`, `port_taken` when somebody answers there, `usage` when the path is too long
 */
export async function listenPrivately(
  path: string,
  setting: string,
  accepted: (socket: Socket, fd: number) => void,
  { allowHalfOpen = false } = {},
): Promise<Server> {
  const another = `choose another with ${setting}`
  if (Buffer.byteLength(path) > LONGEST)
    throw new Refusal(
      'usage',
      `the socket path is longer than ${LONGEST} bytes`,
      { path },
      `choose one with ${setting}`,
    )
  privateFolder(dirname(path), setting)
  await clear(path, another)
  const server = createServer({ allowHalfOpen }, (socket) => {
    const fd = descriptor(socket)
    if (fd === null) return socket.destroy()
    socket.on('error', () => socket.destroy()) // the client's reset is its own affair
    accepted(socket, fd)
    return undefined
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(diskRefusal(error, path, another) ?? error))
    server.listen(path, resolve)
  })
  chmodSync(path, 0o600)
  return server
}

/** Removes a socket file on which nobody answers any more. */
async function clear(path: string, another: string): Promise<void> {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (!stats) return
  if (!stats.isSocket()) throw new Refusal('port_taken', `${path} is there and is no socket`, { path }, another)
  const answers = await new Promise<boolean>((resolve) => {
    const probe = connect(path)
    probe.once('connect', () => resolve(true))
    probe.once('error', () => resolve(false))
    probe.once('close', () => probe.destroy())
  })
  if (answers) throw new Refusal('port_taken', `another program answers on ${path}`, { path }, another)
  rmSync(path, { force: true })
}

/** Not part of the documented interface of node:net, and the only way to the descriptor; a test watches that it stays. */
function descriptor(socket: Socket): number | null {
  const handle: unknown = Reflect.get(socket, '_handle')
  const fd: unknown = typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'fd') : null
  return typeof fd === 'number' && fd >= 0 ? fd : null
}
