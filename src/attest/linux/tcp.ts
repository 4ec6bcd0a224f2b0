// The process at the other end of a TCP connection on loopback.
import type { Endpoint, Verdict } from '../attestor.ts'
import { refuse } from '../refuse.ts'
import type { Held } from './held.ts'
import type { ScanReport } from './holders.ts'
import type { ForkMark } from './machine.ts'
import type { PinTable } from './pin-table.ts'
import { settle, sharedBy, soleHolder, type Unsettled } from './prove.ts'
import type { Scanner } from './scanner.ts'
import type { SockDiag } from './sock-diag.ts'

/** A proof by its socket. The cookie is never reused in a boot, so a reused port cannot meet an older proof. */
type Proved = { cookieLow: number; cookieHigh: number; held: Held }

const LIMIT = 4096

/** net/tcp_states.h: ESTABLISHED, FIN_WAIT1, FIN_WAIT2 (closed for writing only), CLOSE_WAIT (we closed first). */
function isAttestable(state: number): boolean {
  return state === 1 || state === 4 || state === 5 || state === 8
}

export class TcpAttestation {
  #proved = new Map<number, Proved>()

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
    const found = diag.tcp(from.address, port, local.address, local.port)
    if (found === 'failed') return refuse('unreadable', { sock_diag: diag.error })
    const { inode, cookieLow, cookieHigh, uid, state } = diag
    if (found === 'absent') return refuse('peer_gone', { port })
    if (inode === 0 || !isAttestable(state)) return refuse('peer_gone', { port, state })
    if (uid !== euid) return refuse('other_user', { port, uid, ours: euid })

    const key = from.address.includes(':') ? port + 65536 : port
    const known = this.#proved.get(key)
    const warm = known?.cookieLow === cookieLow && known.cookieHigh === cookieHigh && known.held.inode === inode
    let held = warm ? known.held : null
    if (held === null) {
      if (report === null) return { again: 'scan', inode, refusal: refuse('no_holder', { inode, port }) }
      const sole = soleHolder(report, inode, table, nameOf(port, cookieLow, cookieHigh))
      if ('again' in sole) return sole
      held = sole
    }

    const is = held.check(this.forks, euid, report !== null)
    if (is === 'shared') return sharedBy([held.pinned.pid, ...held.sharers], inode)
    if (is === 'lost') {
      this.#proved.delete(key)
      return { again: 'scan', inode, refusal: refuse('no_holder', { inode, port, pid: held.pinned.pid }) }
    }
    if (is === 'other_user') return refuse('other_user', { port, uid: held.pinned.process.uid, ours: euid })
    if (!warm) {
      const same = diag.tcp(from.address, port, local.address, local.port)
      if (same !== 'found' || diag.inode !== inode || diag.cookieLow !== cookieLow || diag.cookieHigh !== cookieHigh)
        return refuse('peer_gone', { port, at: 'proof' })
    }
    const again = peer()
    if (again === null || again.port !== port || again.address !== from.address)
      return refuse('peer_gone', { port, at: 'end' })
    table.touch(held.pinned)
    if (warm) return held.warm()
    if (this.#proved.size >= LIMIT) this.#forgetOldest()
    this.#proved.delete(key)
    this.#proved.set(key, { cookieLow, cookieHigh, held })
    return held.verdict('scan')
  }

  #forgetOldest() {
    const oldest = this.#proved.keys().next()
    if (!oldest.done) this.#proved.delete(oldest.value)
  }
}

function nameOf(port: number, low: number, high: number): string {
  return `${port}/${((BigInt(high) << 32n) | BigInt(low)).toString(16)}`
}
