// The process at the other end of a TCP connection on loopback: the one that made the socket, by the system's own list.
import { addressBytes } from '../address.ts'
import type { AttestRefusal, Endpoint, Process, Verdict } from '../attestor.ts'
import { refuse } from '../refuse.ts'
import type { PinTable } from './pin-table.ts'
import type { Pinned } from './pinned.ts'
import { type End, isOpen, type Row } from './tcp-rows.ts'
import type { TcpTable } from './tcp-table.ts'

const ERROR_ACCESS_DENIED = 5
/** The idle process, and the one of the kernel, which has the sockets of processes that have ended. */
const SYSTEM_PIDS = new Set([0, 4])
const LIMIT = 4096

export class TcpAttestation {
  /** Who had which connection at the last call: an answer about the same one is `warm`. */
  #proved = new Map<string, Process>()

  constructor(
    private rows: TcpTable,
    private table: PinTable,
  ) {}

  /**
   * One sandwich: our own end is open at both calls of `peer` and in both readings of the list, so the pair of addresses was
   * this connection's all the while. The pid of its row cannot be reused after the process is pinned, and a process that was
   * made after its socket is another one with the same pid.
   */
  attest(peer: () => Endpoint | null, local: Endpoint): Verdict {
    const from = peer()
    if (from === null) return refuse('peer_gone', { at: 'start' })
    const { port } = from
    const theirs = endOf(from)
    const ours = endOf(local)
    if (theirs === null || ours === null || theirs.address.length !== ours.address.length)
      return refuse('unreadable', { port, at: 'address' })
    const row = this.#row(theirs, ours)
    if ('ok' in row) return row
    const pinned = this.#holder(row, port)
    if ('ok' in pinned) return pinned
    const after = this.#row(theirs, ours)
    if ('ok' in after) return after
    if (after.pid !== row.pid || after.created !== row.created) return refuse('peer_gone', { port, at: 'proof' })
    if (!pinned.refresh()) return refuse('peer_gone', { port, pid: row.pid, at: 'proof' })
    const again = peer()
    if (again === null || again.port !== port || again.address !== from.address)
      return refuse('peer_gone', { port, at: 'end' })
    return this.#verdict(`${port}/${row.created || `${pinned.pid}.${pinned.process.start}`}`, pinned.process)
  }

  /** The row of the other end, once both ends are open and this one is ours. */
  #row(theirs: End, ours: End): Row | AttestRefusal {
    const found = this.rows.rows(theirs, ours)
    const { port } = theirs
    if (found.error !== 0) return refuse('unreadable', { tcp_table: found.error })
    if (found.theirs === null || !isOpen(found.theirs.state))
      return refuse('peer_gone', { port, state: found.theirs?.state ?? 'none' })
    const { ours: mine } = found
    // 0: not told, as by Wine for accepted sockets; whoever else is told there, the connection is not ours any more
    if (mine === null || !isOpen(mine.state) || (mine.pid !== 0 && mine.pid !== process.pid))
      return refuse('peer_gone', { port, our_state: mine?.state ?? 'none', our_pid: mine?.pid ?? 'none' })
    return found.theirs
  }

  #holder({ pid, created }: Row, port: number): Pinned | AttestRefusal {
    if (SYSTEM_PIDS.has(pid)) return refuse('no_holder', { port, pid })
    const pinned = this.table.pin(pid)
    if (pinned === null) {
      const { error } = this.table
      // a process of another user, or one that even its own user may not look at: Windows does not tell which
      return refuse(error === ERROR_ACCESS_DENIED ? 'other_user' : 'no_holder', { port, pid, error })
    }
    if (pinned.owner === null) return refuse('unreadable', { port, pid })
    if (pinned.owner !== this.table.machine.owner)
      return refuse('other_user', { port, pid, owner: pinned.owner, ours: this.table.machine.owner })
    if (created !== 0n && pinned.created > created) return refuse('no_holder', { port, pid, at: 'older socket' })
    return pinned
  }

  #verdict(connection: string, process: Process): Verdict {
    const via = this.#proved.get(connection)?.start === process.start ? 'warm' : 'table'
    if (via === 'table') {
      for (const oldest of this.#proved.keys()) {
        if (this.#proved.size < LIMIT) break
        this.#proved.delete(oldest)
      }
      this.#proved.set(connection, process)
    }
    return { ok: true, process, via, connection }
  }
}

function endOf({ address, port }: Endpoint): End | null {
  const bytes = addressBytes(address)
  return bytes && { address: bytes, port }
}
