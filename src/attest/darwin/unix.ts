// The process at the other end of a Unix socket: LOCAL_PEERTOKEN of unix(4), and the one holder of the other end.
import type { AttestRefusal, UnixPeer, Verdict } from '../attestor.ts'
import { refuse } from '../refuse.ts'
import { peerToken, socketOf } from './facts.ts'
import { type Holder, holderIn, type Match } from './holders.ts'
import type { Known, KnownTable } from './process-table.ts'
import { patiently, soleHolder } from './prove.ts'

/** Our end, by its descriptor: who answers there later has to be the process that connected. */
class UnixSocket {
  constructor(
    readonly fd: number,
    readonly connector: Known | null,
  ) {}
}

export class UnixAttestation {
  constructor(private table: KnownTable) {}

  /** Null connector: the process that connected has ended, or was replaced by an exec since it connected. */
  accept(fd: number): UnixPeer {
    const token = peerToken(fd)
    const held = token === null ? null : this.table.pin(token.pid)
    const connector = held !== null && held.process.execMark === String(token?.version) ? held : null
    return { pid: token?.pid ?? 0, uid: token?.uid ?? -1, owner: new UnixSocket(fd, connector) }
  }

  attest(peer: UnixPeer): Verdict | Promise<Verdict> {
    return patiently(() => this.#attempt(peer))
  }

  /**
   * The number of our descriptor may have been given to another connection, and a pcb is used again. Both lead to a socket
   * whose other end some process used last: only the one that connected here may be it, and then it is its own connection.
   */
  #attempt({ pid, uid, owner }: UnixPeer): Verdict {
    const { euid } = this.table.machine
    if (!(owner instanceof UnixSocket)) return refuse('unreadable', { pid })
    const { connector, fd } = owner
    if (uid < 0)
      return socketOf(process.pid, fd) === null
        ? refuse('unreadable', { fd })
        : refuse('peer_gone', { fd, at: 'accept' })
    if (uid !== euid) return refuse('other_user', { pid, uid, ours: euid })
    if (connector === null) return refuse('peer_gone', { pid, at: 'accept' })
    const ours = socketOf(process.pid, fd)
    const token = peerToken(fd)
    if (ours === null || token === null || ours.peer === 0n) return refuse('peer_gone', { pid, other_end: 'none' })
    if (token.pid !== pid) return refuse('no_holder', { pid, holder: token.pid })
    const match: Match = (socket) => socket.pcb === ours.peer && socket.peer === ours.pcb
    const held = this.table.instance(connector.process)
    if (held === null) return refuse('peer_gone', { pid, process: 'ended' })
    const found = this.#holder(pid, match)
    if ('ok' in found) return found
    if (found.pid !== pid) return refuse('no_holder', { pid, holder: found.pid })
    const still = socketOf(pid, found.fd)
    if (still === null || !match(still) || !held.refresh()) return refuse('peer_gone', { pid, at: 'end' })
    if (still.shared && !found.socket.shared) return refuse('shared_connection', { pid, holders: pid })
    if (held.process.uid !== euid || held.mixedUser)
      return refuse('other_user', { pid, uid: held.process.uid, ours: euid })
    return { ok: true, process: held.process, via: 'unix', connection: `unix/${ours.pcb.toString(16)}.${held.id}` }
  }

  #holder(pid: number, match: Match): Holder | AttestRefusal {
    const here = holderIn(pid, match)
    if (here !== null && here !== 'denied' && !here.socket.shared) return here
    return soleHolder(match, this.table.machine.euid, { pid })
  }
}
