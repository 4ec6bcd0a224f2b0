// The process at the other end of a TCP connection on loopback.
import { LIMITS } from '../../wire/limits.ts'
import type { Endpoint, Verdict } from '../attestor.ts'
import { refuse } from '../refuse.ts'
import type { Held } from './held.ts'
import type { ScanReport } from './holders.ts'
import { Look, Turn } from './look.ts'
import type { ForkMark } from './machine.ts'
import { OwnEnds } from './own-ends.ts'
import type { PinTable } from './pin-table.ts'
import { settle, sharedBy, soleHolder, type Unsettled } from './prove.ts'
import type { Scanner } from './scanner.ts'
import type { SockDiag } from './sock-diag.ts'

/**
 * Our end. `address`, `port`, `local`: the four parts of the connection's name. `own`: its descriptor, and its cookie; negative
 * where it was not found, then netlink is asked each time.
 */
type OurEnd = { address: string; port: number; local: Endpoint; own: number; ownLow: number; ownHigh: number }

/** A proof by its socket. The cookie is never reused in a boot, so a reused port cannot meet an older proof. */
type Proved = OurEnd & { cookieLow: number; cookieHigh: number; held: Held }

/** As many as may be open. */
const LIMIT = LIMITS.connectionsAll

/** net/tcp_states.h: ESTABLISHED, FIN_WAIT1, FIN_WAIT2 (closed for writing only), CLOSE_WAIT (we closed first). */
function isAttestable(state: number): boolean {
  return state === 1 || state === 4 || state === 5 || state === 8
}

export class TcpAttestation {
  #proved = new Map<number, Proved>()
  #ends = new OwnEnds()
  #turn: Turn

  constructor(
    private diag: SockDiag,
    private table: PinTable,
    private forks: ForkMark,
    private scanner: Scanner,
  ) {
    this.#turn = new Turn(forks)
  }

  attest(peer: () => Endpoint | null, local: Endpoint): Verdict | Promise<Verdict> {
    const from = peer()
    const known = from === null ? undefined : this.#proved.get(keyOf(from))
    if (from !== null && known !== undefined && known.own >= 0 && isBetween(known, from, local))
      return this.#warm(known, from, peer, local)
    return this.#settled(this.#attempt(peer, local, null), peer, local)
  }

  #settled(step: Verdict | Unsettled, peer: () => Endpoint | null, local: Endpoint): Verdict | Promise<Verdict> {
    if (!('again' in step)) return step
    return settle(step, (report) => this.#attempt(peer, local, report), this.scanner)
  }

  /**
   * A proof from before, judged again when this turn of the event loop has ended; where our end is not what it was, anew.
   * `from` was read from the living connection of this request. Our end, which is older, has those very addresses when all is
   * done, hence had them all the while: no two sockets have the same four at once, so it is the end of this request.
   */
  #warm(known: Proved, from: Endpoint, peer: () => Endpoint | null, local: Endpoint): Promise<Verdict> {
    return new Promise((resolve) => {
      this.#turn.atEnd((look) => {
        const fault = this.#fault(known.held, keyOf(from), from.port, look, false)
        if (!this.#ends.connected(known.own, known.ownLow, known.ownHigh))
          return resolve(this.#settled(this.#attempt(peer, local, null), peer, local))
        if (fault !== null) return resolve(this.#settled(fault, peer, local))
        this.table.touch(known.held.pinned)
        resolve(known.held.warm())
      })
    })
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
    const key = keyOf(from)
    const known = this.#proved.get(key)

    const found = diag.tcp(from.address, port, local.address, local.port)
    if (found === 'failed') return refuse('unreadable', { sock_diag: diag.error })
    const { inode, cookieLow, cookieHigh, uid, state } = diag
    if (found === 'absent') return refuse('peer_gone', { port, state: 'none' })
    if (inode === 0 || !isAttestable(state)) return refuse('peer_gone', { port, state })
    if (uid !== euid) return refuse('other_user', { port, uid, ours: euid })
    const look = new Look(this.forks)
    if (known?.cookieLow === cookieLow && known.cookieHigh === cookieHigh && known.held.inode === inode) {
      const fault = this.#fault(known.held, key, port, look, report !== null)
      if (fault) return fault
      if (!unmoved(from, peer())) return refuse('peer_gone', { port, at: 'end' })
      table.touch(known.held.pinned)
      return known.held.warm()
    }

    if (report === null) return { again: 'scan', inode, refusal: refuse('no_holder', { inode, port }) }
    const held = soleHolder(report, inode, table, nameOf(port, cookieLow, cookieHigh))
    if ('again' in held) return held
    const fault = this.#fault(held, key, port, look, true)
    if (fault) return fault
    const same = diag.tcp(from.address, port, local.address, local.port)
    if (same !== 'found' || diag.inode !== inode || diag.cookieLow !== cookieLow || diag.cookieHigh !== cookieHigh)
      return refuse('peer_gone', { port, at: 'proof' })
    const seen = diag.tcp(local.address, local.port, from.address, port)
    const { cookieLow: ownLow, cookieHigh: ownHigh } = diag
    const own = seen === 'found' ? this.#ends.find(ownLow, ownHigh) : -1
    if (!unmoved(from, peer())) return refuse('peer_gone', { port, at: 'end' })
    table.touch(held.pinned)
    if (this.#proved.size >= LIMIT) this.#forgetOldest()
    this.#proved.delete(key)
    const ours = { address: local.address, port: local.port }
    const end: OurEnd = { address: from.address, port, local: ours, own, ownLow, ownHigh }
    this.#proved.set(key, { ...end, cookieLow, cookieHigh, held })
    held.isOpen = this.#askerOf(end)
    return held.verdict('scan')
  }

  /** Keeps nothing but the end: whoever counts connections asks long after the proof. */
  #askerOf({ address, port, local, own, ownLow, ownHigh }: OurEnd): () => boolean {
    const { diag } = this
    return () => {
      if (own >= 0) return this.#ends.connected(own, ownLow, ownHigh)
      if (diag.tcp(local.address, local.port, address, port) !== 'found') return false
      return diag.cookieLow === ownLow && diag.cookieHigh === ownHigh && isAttestable(diag.state)
    }
  }

  #fault(held: Held, key: number, port: number, look: Look, fresh: boolean): Verdict | Unsettled | null {
    const { euid } = this.table.machine
    const { inode, pinned } = held
    switch (held.check(look, euid, fresh)) {
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

/** One key for each port of each address family. */
const keyOf = ({ address, port }: Endpoint): number => (address.includes(':') ? port + 65536 : port)

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
