// Where the mailbox is: its data folder, its socket, its port, and what the running daemon wrote down about itself.
import { readFileSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import type { Io } from './io.ts'
import { usage, wholeNumber } from './usage.ts'

export const DEFAULT_PORT = 18_301

/** The shortest `sun_path` of the systems we run on, macOS: unix(4); without the closing zero. */
const SOCKET_PATH_BYTES = 103

export type PlaceOptions = { 'data-dir': string | undefined; port: string | undefined; socket: string | undefined }

export type Place = {
  dataDir: string
  /** What the caller asked for, or null. 0 means any free port, for `serve`. */
  port: number | null
  /** The Unix socket: what the caller asked for, else the usual one; null on Windows. */
  socket: string | null
  /** The caller named the socket itself. */
  socketGiven: boolean
}

/**
 * Option before environment before the usual place of the system.
 * @throws Refusal `usage`
 */
export function placeOf(options: PlaceOptions, io: Io): Place {
  const { env, cwd } = io
  const given = options['data-dir'] || env.M4A_DATA_DIR
  const usual = usualDataDir(io)
  const dataDir = given ? resolve(cwd, given) : usual
  const portText = options.port || env.M4A_PORT
  const socketText = options.socket || env.M4A_SOCKET
  const port = portText ? wholeNumber(options.port ? '--port' : 'M4A_PORT', portText, 0, 65_535) : null
  const socket = socketText ? resolve(cwd, socketText) : usualSocket(dataDir, dataDir === usual, io)
  if (socket !== null && Buffer.byteLength(socket) > SOCKET_PATH_BYTES)
    throw usage('the path of the socket is too long for this system', 'choose a shorter one with --socket')
  return { dataDir, port, socket, socketGiven: Boolean(socketText) }
}

/** A relative path in an XDG variable is to be ignored: XDG Base Directory Specification. */
export const absolute = (path: string | undefined): string | null => (path && isAbsolute(path) ? path : null)

function usualDataDir({ env, home, platform }: Io): string {
  if (platform === 'win32') return join(env.LOCALAPPDATA || join(home, 'AppData', 'Local'), 'mail4agent')
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'mail4agent')
  return join(absolute(env.XDG_DATA_HOME) ?? join(home, '.local', 'share'), 'mail4agent')
}

function usualSocket(dataDir: string, isUsual: boolean, { env, platform }: Io): string | null {
  if (platform === 'win32') return null
  const runtime = absolute(env.XDG_RUNTIME_DIR)
  return isUsual && runtime ? join(runtime, 'mail4agent', 'm4a.sock') : join(dataDir, 'm4a.sock')
}

/** Where programs send one JSON line a request; null on Windows. */
export function commandSocket({ dataDir }: Place, { env, cwd, platform }: Io): { path: string; given: boolean } | null {
  if (platform === 'win32') return null
  const given = env.M4A_SEND_SOCK
  return { path: given ? resolve(cwd, given) : join(dataDir, 'send.sock'), given: Boolean(given) }
}

export type Daemon = { pid: number; port: number; socket: string | null }

/** What the daemon of that data folder wrote when it started; null where none runs, or it was stopped by force and left nothing. */
export function readDaemonFile(dataDir: string): Daemon | null {
  try {
    const found: unknown = JSON.parse(readFileSync(join(dataDir, 'daemon.json'), 'utf8'))
    if (typeof found !== 'object' || found === null || !('pid' in found) || !('port' in found)) return null
    const { pid, port } = found
    const socket = 'socket' in found && typeof found.socket === 'string' ? found.socket : null
    return typeof pid === 'number' && typeof port === 'number' ? { pid, port, socket } : null
  } catch {
    return null
  }
}

/** How a client reaches the mailbox: by its socket where that is possible, because a socket names its peer best. */
export type Route = { socket: string } | { base: string }

export function routeTo(place: Place): Route {
  if (place.socketGiven && place.socket !== null) return { socket: place.socket }
  const daemon = readDaemonFile(place.dataDir)
  const isOurs = daemon !== null && (place.port === null || place.port === 0 || place.port === daemon.port)
  if (isOurs && daemon.socket !== null) return { socket: daemon.socket }
  if (place.port !== null && place.port !== 0) return { base: `http://127.0.0.1:${place.port}` }
  if (place.socket !== null) return { socket: place.socket }
  return { base: `http://127.0.0.1:${daemon?.port ?? DEFAULT_PORT}` }
}
