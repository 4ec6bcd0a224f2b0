// The process at the other end of a TCP connection on loopback.
import { addressBytes } from '../address.ts'
import type { AttestRefusal, Endpoint, Verdict } from '../attestor.ts'
import { refuse } from '../refuse.ts'
import { socketOf } from './facts.ts'
import { type Holder, holderIn, type Match } from './holders.ts'
import { type End, isAt, isOpen } from './layout.ts'
import { sysctlByName } from './lib-system.ts'
import { hintFor } from './pcb-list.ts'
import type { KnownTable } from './process-table.ts'
import { patiently, soleHolder } from './prove.ts'

/** Where a connection was found to be open at the last call. */
type Place = { pid: number; fd: number; generation: bigint }

const LIMIT = 4096

export class TcpAttestation {
  #places = new Map<string, Place>()

  constructor(private table: KnownTable) {}

  attest(peer: () => Endpoint | null, local: Endpoint): Verdict | Promise<Verdict> {
    return patiently(() => this.#attempt(peer, local))
  }

  /**
   * One sandwich: our own end is open at both calls of `peer`, so the pair of addresses was this connection's all the while.
   * The holder's descriptor is looked at while its unique id is the same before and after.
   */
  #attempt(peer: () => Endpoint | null, local: Endpoint): Verdict {
    const from = peer()
    if (from === null) return refuse('peer_gone', { at: 'start' })
    const { port } = from
    const theirs = endOf(from)
    const ours = endOf(local)
    if (theirs === null || ours === null) return refuse('unreadable', { port, at: 'address' })
    const match: Match = ({ tcp }) =>
      tcp !== null && isOpen(tcp.state) && isAt(tcp.local, theirs) && isAt(tcp.remote, ours)
    const key = `${from.address} ${port}`
    const known = this.#known(key, match)
    const found = known ?? this.#search(theirs, ours, match)
    if ('ok' in found) return found
    const { pid, fd } = found.holder
    const generation = found.holder.socket.tcp?.generation ?? 0n
    const held = this.table.pin(pid)
    const still = socketOf(pid, fd)
    if (held === null || still === null || !match(still) || still.tcp?.generation !== generation)
      return refuse('peer_gone', { port, pid, at: 'proof' })
    if (still.shared && !found.holder.socket.shared) return refuse('shared_connection', { port, holders: pid })
    if (!held.refresh()) return refuse('peer_gone', { port, pid, at: 'proof' })
    const { euid } = this.table.machine
    if (held.process.uid !== euid || held.mixedUser)
      return refuse('other_user', { port, pid, uid: held.process.uid, ours: euid })
    const again = peer()
    if (again === null || again.port !== port || again.address !== from.address)
      return refuse('peer_gone', { port, at: 'end' })
    this.#keep(key, { pid, fd, generation })
    return { ok: true, process: held.process, via: found.via, connection: `${port}/${generation.toString(16)}` }
  }

  /** The connection where it was before, and with no other holder. */
  #known(key: string, match: Match): { holder: Holder; via: 'warm' } | null {
    const place = this.#places.get(key)
    if (place === undefined) return null
    const socket = socketOf(place.pid, place.fd)
    if (socket === null || socket.shared || !match(socket) || socket.tcp?.generation !== place.generation) return null
    return { holder: { pid: place.pid, fd: place.fd, count: 1, socket }, via: 'warm' }
  }

  /** First where the kernel's list says that it was used last; everywhere, where it is not there or has other holders. */
  #search(theirs: End, ours: End, match: Match): { holder: Holder; via: 'table' | 'scan' } | AttestRefusal {
    const { euid } = this.table.machine
    const { port } = theirs
    const list = sysctlByName('net.inet.tcp.pcblist_n')
    const hint = list && hintFor(list, theirs, ours)
    if (hint && hint.uid !== euid) return refuse('other_user', { port, uid: hint.uid, ours: euid })
    for (const pid of hint?.pids ?? []) {
      const holder = holderIn(pid, match)
      if (holder !== null && holder !== 'denied' && !holder.socket.shared) return { holder, via: 'table' }
    }
    const sole = soleHolder(match, euid, { port })
    if (!('ok' in sole)) return { holder: sole, via: 'scan' }
    // on no list and with no process: the connection has ended
    return sole.kind === 'no_holder' && list !== null && hint === null
      ? refuse('peer_gone', { port, state: 'none' })
      : sole
  }

  #keep(key: string, place: Place) {
    this.#places.delete(key)
    this.#places.set(key, place)
    for (const oldest of this.#places.keys()) {
      if (this.#places.size <= LIMIT) break
      this.#places.delete(oldest)
    }
  }
}

function endOf({ address, port }: Endpoint): End | null {
  const bytes = addressBytes(address)
  return bytes && { address: bytes, port }
}
