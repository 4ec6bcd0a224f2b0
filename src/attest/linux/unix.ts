// The process at the other end of a Unix socket: unix(7).
import type { UnixPeer, Verdict } from '../attestor.ts'
import { refuse } from '../refuse.ts'
import type { Held } from './held.ts'
import type { ScanReport } from './holders.ts'
import { libc, memory } from './libc.ts'
import { Look } from './look.ts'
import type { ForkMark } from './machine.ts'
import type { PinTable } from './pin-table.ts'
import type { Pinned } from './pinned.ts'
import { inodeOf } from './procfs.ts'
import { settle, sharedBy, soleHolder, type Unsettled } from './prove.ts'
import type { Scanner } from './scanner.ts'
import type { SockDiag } from './sock-diag.ts'

const SOL_SOCKET = 1
const SO_PEERCRED = 17
const SO_COOKIE = 57
const SO_PEERPIDFD = 77

const value = memory(64)
const length = memory(64)

function socketOption(fd: number, option: number, size: number): boolean {
  length.view.setUint32(0, size, true)
  return libc().getsockopt(fd, SOL_SOCKET, option, value.at, length.at) === 0
}

/** Our own end by inode and cookie: the number of a descriptor is reused as soon as it is closed. */
class UnixSocket {
  held: Held | undefined
  constructor(
    readonly inode: number,
    readonly cookieLow: number,
    readonly cookieHigh: number,
    readonly connector: Pinned | null,
  ) {}
}

export class UnixAttestation {
  constructor(
    private diag: SockDiag,
    private table: PinTable,
    private forks: ForkMark,
    private scanner: Scanner,
  ) {}

  /** The kernel keeps who called connect(2); that process is pinned while it surely has not been replaced. */
  accept(fd: number): UnixPeer {
    const inode = Number(inodeOf(fd) ?? 0)
    const named = socketOption(fd, SO_COOKIE, 8)
    const low = named ? value.view.getUint32(0, true) : 0
    const high = named ? value.view.getUint32(4, true) : 0
    const trusted = socketOption(fd, SO_PEERCRED, 12)
    const pid = trusted ? value.view.getInt32(0, true) : 0
    const uid = trusted ? value.view.getInt32(4, true) : -1
    const connector = pid > 0 ? this.#pinConnector(fd, pid) : null
    return { pid, uid, owner: new UnixSocket(named ? inode : 0, low, high, connector) }
  }

  /** Null where the process that connected has ended, even if its pid has a new owner. */
  #pinConnector(fd: number, pid: number): Pinned | null {
    const pinned = this.table.pin(pid)
    if (pinned === null || !this.table.machine.hasPidfs || !socketOption(fd, SO_PEERPIDFD, 4)) return pinned
    const pidfd = value.view.getInt32(0, true)
    const inode = inodeOf(pidfd)
    libc().close(pidfd)
    return inode === pinned.process.pidfd ? pinned : null
  }

  attest(peer: UnixPeer): Verdict | Promise<Verdict> {
    const step = this.#attempt(peer, null)
    if (!('again' in step)) return step
    return settle(step, (report) => this.#attempt(peer, report), this.scanner)
  }

  #attempt(peer: UnixPeer, report: ScanReport | null): Verdict | Unsettled {
    const { diag, table } = this
    const { euid } = table.machine
    const { pid, uid, owner } = peer
    if (!(owner instanceof UnixSocket) || owner.inode === 0) return refuse('unreadable', { pid })
    const found = diag.unixPeer(owner.inode, owner.cookieLow, owner.cookieHigh)
    if (found === 'failed') return refuse('unreadable', { pid, sock_diag: diag.error })
    if (found === 'absent' || diag.inode === 0) return refuse('peer_gone', { pid, other_end: 'none' })
    if (uid !== euid) return refuse('other_user', { pid, uid, ours: euid })
    const { inode } = diag
    const { connector } = owner
    if (connector === null) return refuse('peer_gone', { pid, at: 'accept' })

    let held = owner.held
    if (held === undefined) {
      if (report === null) return { again: 'scan', inode, refusal: refuse('no_holder', { inode, pid }) }
      const sole = soleHolder(report, inode, table, `unix/${nameOf(owner)}`)
      if ('again' in sole) return sole
      held = sole
      // The table may have pinned the same instance anew.
      if (!held.pinned.is(connector.process)) return this.#passedOn(connector, held.pinned.pid)
    }
    const is = held.check(new Look(this.forks), euid, report !== null)
    if (is === 'shared') return sharedBy([held.pinned.pid, ...held.sharers], inode)
    if (is === 'lost') {
      owner.held = undefined
      return { again: 'scan', inode, refusal: refuse('no_holder', { inode, pid }) }
    }
    if (is === 'other_user') return refuse('other_user', { pid, uid: held.pinned.process.uid, ours: euid })
    if (diag.unixPeer(owner.inode, owner.cookieLow, owner.cookieHigh) !== 'found' || diag.inode !== inode)
      return refuse('peer_gone', { pid, at: 'end' })
    owner.held = held
    table.touch(held.pinned)
    return held.verdict('unix')
  }

  /** Another process than the one that connected has the socket now: it may be anybody's, so it is nobody's. */
  #passedOn(connector: Pinned, holder: number): Verdict {
    const { pid } = connector
    return this.table.instance(connector.process) === null
      ? refuse('peer_gone', { pid, holder })
      : refuse('no_holder', { pid, holder })
  }
}

function nameOf(socket: UnixSocket): string {
  return ((BigInt(socket.cookieHigh) << 32n) | BigInt(socket.cookieLow)).toString(16)
}
