// The process at the other end of a TCP connection on loopback.
import type { Endpoint, Verdict } from '../attestor.ts'
import { refuse } from '../refuse.ts'
import type { Held } from './held.ts'
import type { ScanReport } from './holders.ts'
import type { ForkMark } from './machine.ts'
import { OwnEnds } from './own-ends.ts'
import type { PinTable } from './pin-table.ts'
import { settle, sharedBy, soleHolder, type Unsettled } from './prove.ts'
import type { Scanner } from './scanner.ts'
import type { SockDiag } from './sock-diag.ts'

/**
 * A proof by its socket. The cookie is never reused in a boot, so a reused port cannot meet an older proof.
 * `address`, `local`: with the port all four parts of the connection's name. `own`: the descriptor of our end and its cookie;
 * negative where it was not found, then netlink is asked each time.
 */
type Proved = {
  address: string
  local: Endpoint
  cookieLow: number
  cookieHigh: number
  held: Held
  own: number
  ownLow: number
  ownHigh: number
}

const LIMIT = 4096

/** net/tcp_states.h: ESTABLISHED, FIN_WAIT1, FIN_WAIT2 (closed for writing only), CLOSE_WAIT (we closed first). */
function isAttestable(state: number): boolean {
  return state === 1 || state === 4 || state === 5 || state === 8
}

export class TcpAttestation {
  #proved = new Map<number, Proved>()
  #ends = new OwnEnds()

  constructor(
    private diag: SockDiag,
    private table: PinTable,
    private forks: ForkMark,
    private scanner: Scanner,
  ) {}

  attest(peer: () => Endpoint | null, local: Endpoint): Verdict | Promise<Verdict> {
    const step = this.#attempt(peer, local, null)
    if (!('again' in step)) return step
    return settle(step, (report) => this.#attempt(peer, local, report), this.scanner)
  }

  /**
   * One sandwich. Our own end is alive at both calls of `peer`, hence in between, hence the address pair was this
   * connection's all the while, and the socket found by it is the peer of this very request.
   */
  #attempt(peer: () => Endpoint | null, local: Endpoint, report: ScanReport | null): Verdict | Unsettled {
    const { diag, table } = this
    const { euid } = table.machine
    const from = peer()
    if (from === null) return refuse('peer_gone', { at: 'start' })
    const { port } = from
    const key = from.address.includes(':') ? port + 65536 : port
    const known = this.#proved.get(key)
    if (known && report === null && isBetween(known, from, local) && this.#stillConnected(known))
      return this.#again(peer, from, key, known.held)

    const found = diag.tcp(from.address, port, local.address, local.port)
    if (found === 'failed') return refuse('unreadable', { sock_diag: diag.error })
    const { inode, cookieLow, cookieHigh, uid, state } = diag
    if (found === 'absent') return refuse('peer_gone', { port, state: 'none' })
    if (inode === 0 || !isAttestable(state)) return refuse('peer_gone', { port, state })
    if (uid !== euid) return refuse('other_user', { port, uid, ours: euid })
    if (known?.cookieLow === cookieLow && known.cookieHigh === cookieHigh && known.held.inode === inode)
      return this.#again(peer, from, key, known.held, report !== null)

    if (report === null) return { again: 'scan', inode, refusal: refuse('no_holder', { inode, port }) }
    const held = soleHolder(report, inode, table, nameOf(port, cookieLow, cookieHigh))
    if ('again' in held) return held
    const fault = this.#fault(held, key, port, true)
    if (fault) return fault
    const same = diag.tcp(from.address, port, local.address, local.port)
    if (same !== 'found' || diag.inode !== inode || diag.cookieLow !== cookieLow || diag.cookieHigh !== cookieHigh)
      return refuse('peer_gone', { port, at: 'proof' })
    const ours = diag.tcp(local.address, local.port, from.address, port)
    const { cookieLow: ownLow, cookieHigh: ownHigh } = diag
    const own = ours === 'found' ? this.#ends.find(ownLow, ownHigh) : -1
    if (!unmoved(from, peer())) return refuse('peer_gone', { port, at: 'end' })
    table.touch(held.pinned)
    if (this.#proved.size >= LIMIT) this.#forgetOldest()
    this.#proved.delete(key)
    const ends = { address: from.address, local: { address: local.address, port: local.port } }
    this.#proved.set(key, { ...ends, cookieLow, cookieHigh, held, own, ownLow, ownHigh })
    return held.verdict('scan')
  }

  #stillConnected({ own, ownLow, ownHigh }: Proved): boolean {
    return own >= 0 && this.#ends.connected(own, ownLow, ownHigh)
  }

  /** A connection that was proved before: its holder is looked at again, and our end of the sandwich. */
  #again(peer: () => Endpoint | null, from: Endpoint, key: number, held: Held, fresh = false): Verdict | Unsettled {
    const fault = this.#fault(held, key, from.port, fresh)
    if (fault) return fault
    if (!unmoved(from, peer())) return refuse('peer_gone', { port: from.port, at: 'end' })
    this.table.touch(held.pinned)
    return held.warm()
  }

  #fault(held: Held, key: number, port: number, fresh: boolean): Verdict | Unsettled | null {
    const { euid } = this.table.machine
    const { inode, pinned } = held
    switch (held.check(this.forks, euid, fresh)) {
      case 'held':
        return null
      case 'shared':
        return sharedBy([pinned.pid, ...held.sharers], inode)
      case 'other_user':
        return refuse('other_user', { port, uid: pinned.process.uid, ours: euid })
      case 'lost':
        this.#proved.delete(key)
        return { again: 'scan', inode, refusal: refuse('no_holder', { inode, port, pid: pinned.pid }) }
    }
  }

  #forgetOldest() {
    const oldest = this.#proved.keys().next()
    if (!oldest.done) this.#proved.delete(oldest.value)
  }
}

function nameOf(port: number, low: number, high: number): string {
  return `${port}/${((BigInt(high) << 32n) | BigInt(low)).toString(16)}`
}

/** One port may be in use from several addresses of 127.0.0.0/8 at once, and towards several doors: tcp(7). */
function isBetween({ address, local }: Proved, from: Endpoint, to: Endpoint): boolean {
  return address === from.address && local.port === to.port && local.address === to.address
}

/** Our end is still connected to where it was at the start. */
function unmoved(from: Endpoint, now: Endpoint | null): boolean {
  return now !== null && now.port === from.port && now.address === from.address
}
