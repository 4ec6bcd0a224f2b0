// Is there a mailbox on this data folder? Its own note, the lock that it holds, and whether it answers on each of its doors.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Health, MailClient } from '../../client/client.ts'
import type { Target } from '../../client/target.ts'
import { isLocked } from '../../store/lock.ts'
import { Refusal } from '../../wire/refusal.ts'
import { type Holder, holdersOf } from './holders.ts'

/** What the mailbox wrote into daemon.json when it started. */
export type Note = { pid: number; port: number; socket: string | null; startedAt: number | null }

export type Presence = {
  /** Null: there is none, or it cannot be understood. */
  note: Note | null
  /** The process of the note exists, and has the data folder open where that can be seen: a pid is used again. */
  alive: boolean
  /** The processes that have it open; null where the system does not tell. */
  holders: Holder[] | null
  /** Somebody holds the lock of the data folder. */
  locked: boolean
  /** What answers on the Unix socket; null where no socket is used. */
  socket: Health | Refusal | null
  /** What answers on the TCP port. */
  tcp: Health | Refusal
  /** What the mailbox of this very data folder says of itself; null where none answers. */
  health: Health | null
}

const ANSWER_MS = 3_000

/** Looks. `port` and `socket` are where it would listen, for when it left no note. */
export async function lookForMailbox(dataDir: string, port: number, socketPath: string | null): Promise<Presence> {
  const note = readNote(dataDir)
  const holders = holdersOf(dataDir)
  const alive = note !== null && exists(note.pid) && isHolder(note.pid, holders)
  const path = note === null ? socketPath : note.socket
  const [socket, tcp] = await Promise.all([
    path === null ? null : ask({ socket: path }),
    ask({ base: `http://127.0.0.1:${note?.port ?? port}` }),
  ])
  const overTcp = alive && !(tcp instanceof Refusal) ? tcp : null
  const health = socket !== null && !(socket instanceof Refusal) ? socket : overTcp
  return { note, alive, holders, locked: isLocked(join(dataDir, 'lock')), socket, tcp, health }
}

async function ask(target: Target): Promise<Health | Refusal> {
  const client = new MailClient({ ...target, token: '' })
  try {
    return await client.health({ timeoutMs: ANSWER_MS })
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  } finally {
    client.close()
  }
}

function readNote(dataDir: string): Note | null {
  try {
    const found: unknown = JSON.parse(readFileSync(join(dataDir, 'daemon.json'), 'utf8'))
    if (typeof found !== 'object' || found === null || !('pid' in found) || !('port' in found)) return null
    const { pid, port } = found
    if (typeof pid !== 'number' || typeof port !== 'number') return null
    const socket = 'socket' in found && typeof found.socket === 'string' ? found.socket : null
    const started = 'started_at' in found && typeof found.started_at === 'string' ? Date.parse(found.started_at) : NaN
    return { pid, port, socket, startedAt: Number.isNaN(started) ? null : started }
  } catch {
    return null
  }
}

/** We ourselves are not among the holders that are listed. */
const isHolder = (pid: number, holders: readonly Holder[] | null): boolean =>
  holders === null || pid === process.pid || holders.some((holder) => holder.pid === pid)

/** EPERM: it is there and another user's. kill(2) */
function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
