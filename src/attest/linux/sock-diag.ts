// Exact look-ups of one socket by the kernel: sock_diag(7).
import { type AddressBytes, addressBytes } from '../address.ts'
import { ENOENT, errno, libc, memory, O_CLOEXEC } from './libc.ts'

const AF_NETLINK = 16
const SOCK_RAW = 3
const NETLINK_SOCK_DIAG = 4
const SOCK_DIAG_BY_FAMILY = 20
const NLMSG_ERROR = 2
const NLM_F_REQUEST = 1
const MSG_DONTWAIT = 0x40
const UDIAG_SHOW_PEER = 4
const UNIX_DIAG_PEER = 2
const TCP_REQUEST = 72
const UNIX_REQUEST = 40

const tcpAsk = memory(TCP_REQUEST)
const unixAsk = memory(UNIX_REQUEST)
const answer = memory(4096)

/** `absent`: the kernel has no such socket. `failed`: it did not answer, `diag.error` says why. */
export type Found = 'found' | 'absent' | 'failed'

/** One netlink socket, and the last answer in its fields, so that a look-up allocates nothing. */
export class SockDiag {
  state = 0
  uid = 0
  /** 0 once the owner has closed its end */
  inode = 0
  cookieLow = 0
  cookieHigh = 0
  error = 0
  #socket: number
  #sequence = 0
  #source: AddressBytes | null = null
  #target: AddressBytes | null = null

  constructor() {
    this.#socket = libc().socket(AF_NETLINK, SOCK_RAW | O_CLOEXEC, NETLINK_SOCK_DIAG)
    if (this.#socket < 0) throw new Error(`no netlink socket (errno ${errno()})`)
    // Connected to the kernel (port 0), it takes no message from another process: netlink(7).
    const kernel = memory(64)
    kernel.view.setUint16(0, AF_NETLINK, true)
    if (libc().connect(this.#socket, kernel.at, 12) !== 0) throw new Error(`no netlink peer (errno ${errno()})`)
    header(tcpAsk.view, TCP_REQUEST)
    tcpAsk.bytes[17] = 6 // IPPROTO_TCP
    tcpAsk.view.setUint32(20, 0xffffffff, true) // all states
    tcpAsk.view.setUint32(64, 0xffffffff, true) // INET_DIAG_NOCOOKIE
    tcpAsk.view.setUint32(68, 0xffffffff, true)
    header(unixAsk.view, UNIX_REQUEST)
    unixAsk.bytes[16] = 1 // AF_UNIX
    unixAsk.view.setUint32(20, 0xffffffff, true)
    unixAsk.view.setUint32(28, UDIAG_SHOW_PEER, true)
  }

  /** The socket whose own end is `source` and whose peer is `target`; the answer is in the fields. */
  tcp(source: string, sourcePort: number, target: string, targetPort: number): Found {
    const from = addressBytes(source)
    const to = addressBytes(target)
    if (from === null || to === null || from.length !== to.length) return 'absent'
    if (from !== this.#source || to !== this.#target) {
      tcpAsk.bytes.fill(0, 28, 60)
      tcpAsk.bytes[16] = from.length === 4 ? 2 : 10 // AF_INET, AF_INET6
      tcpAsk.bytes.set(from, 28)
      tcpAsk.bytes.set(to, 44)
      this.#source = from
      this.#target = to
    }
    tcpAsk.view.setUint16(24, sourcePort)
    tcpAsk.view.setUint16(26, targetPort)
    const found = this.#ask(tcpAsk, TCP_REQUEST)
    if (found !== 'found') return found
    // Without a match the kernel answers a listener on the source port: the answer's own ports must be the asked ones.
    if (answer.view.getUint16(20) !== sourcePort || answer.view.getUint16(22) !== targetPort) return 'absent'
    this.state = answer.bytes[17] ?? 0
    this.cookieLow = answer.view.getUint32(60, true)
    this.cookieHigh = answer.view.getUint32(64, true)
    this.uid = answer.view.getUint32(80, true)
    this.inode = answer.view.getUint32(84, true)
    return 'found'
  }

  /** The peer of our own Unix socket, which `inode` and its cookie name: its inode is in `inode`, 0 for none. */
  unixPeer(inode: number, cookieLow: number, cookieHigh: number): Found {
    unixAsk.view.setUint32(24, inode, true)
    unixAsk.view.setUint32(32, cookieLow, true)
    unixAsk.view.setUint32(36, cookieHigh, true)
    const found = this.#ask(unixAsk, UNIX_REQUEST)
    if (found !== 'found') return found
    if (answer.view.getUint32(20, true) !== inode) return 'absent'
    this.state = answer.bytes[18] ?? 0
    this.inode = 0
    const end = answer.view.getUint32(0, true)
    for (let at = 32; at + 8 <= end; ) {
      const length = answer.view.getUint16(at, true)
      if (answer.view.getUint16(at + 2, true) === UNIX_DIAG_PEER) this.inode = answer.view.getUint32(at + 4, true)
      if (length < 4) break
      at += (length + 3) & ~3
    }
    return 'found'
  }

  #ask(request: typeof tcpAsk, length: number): Found {
    this.#sequence = (this.#sequence + 1) >>> 0
    request.view.setUint32(8, this.#sequence, true)
    if (Number(libc().send(this.#socket, request.at, length, 0)) !== length) return this.#fail(errno())
    // The answer is queued inside send(): there is nothing to wait for.
    for (let tries = 0; tries < 8; tries++) {
      const size = Number(libc().recv(this.#socket, answer.at, answer.bytes.length, MSG_DONTWAIT))
      if (size < 20) return this.#fail(size < 0 ? errno() : 0)
      if (answer.view.getUint32(8, true) !== this.#sequence) continue
      if (answer.view.getUint16(4, true) !== NLMSG_ERROR) return 'found'
      const error = -answer.view.getInt32(16, true)
      return error === ENOENT ? 'absent' : this.#fail(error)
    }
    return this.#fail(0)
  }

  #fail(error: number): Found {
    this.error = error
    return 'failed'
  }

  close() {
    if (this.#socket >= 0) libc().close(this.#socket)
    this.#socket = -1
  }
}

function header(view: DataView, length: number) {
  view.setUint32(0, length, true)
  view.setUint16(4, SOCK_DIAG_BY_FAMILY, true)
  view.setUint16(6, NLM_F_REQUEST, true)
}
