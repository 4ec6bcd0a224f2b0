// The structures that the macOS kernel fills in, as pure functions over their bytes: xnu, bsd/sys/proc_info.h and proc_info_private.h.

const decoder = new TextDecoder()
const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** The text at `at` up to its NUL, at most `size` bytes. */
export function text(bytes: Uint8Array, at: number, size: number): string {
  const nul = bytes.subarray(at, at + size).indexOf(0)
  return decoder.decode(bytes.subarray(at, at + (nul < 0 ? size : nul)))
}

/** Sizes of what the kernel is asked for; an answer of another size is of another kernel. */
export const SIZE = { socket: 792, fd: 8, info: 136, shortInfo: 64, unique: 56, folders: 2352, path: 4096 } as const

export type End = { address: Uint8Array; port: number }

export type TcpSocket = {
  /** `in_pcb` generation: no two sockets of a boot have the same */
  generation: bigint
  local: End
  remote: End
  state: number
}

export type SocketInfo = {
  /** the open file has more than one reference: dup(2), fork(2), or a descriptor on its way to another process */
  shared: boolean
  /** the protocol control block, as a number that only compares */
  pcb: bigint
  /** the pcb of the other end of a Unix socket; 0 for none */
  peer: bigint
  tcp: TcpSocket | null
}

const SOCKINFO_TCP = 2
const SOCKINFO_UN = 3
const PROC_FP_SHARED = 1
const INI_IPV4 = 1

/** struct socket_fdinfo: PROC_PIDFDSOCKETINFO. */
export function socketInfo(bytes: Uint8Array): SocketInfo {
  const view = viewOf(bytes)
  const kind = view.getInt32(256, true)
  const tcp: TcpSocket | null =
    kind !== SOCKINFO_TCP
      ? null
      : {
          generation: view.getBigUint64(272, true),
          // ports are in network order, in the first two bytes of their field
          remote: endAt(bytes, 296, view.getUint16(264), view.getUint8(288)),
          local: endAt(bytes, 312, view.getUint16(268), view.getUint8(288)),
          state: view.getInt32(344, true),
        }
  return {
    shared: (view.getUint32(4, true) & PROC_FP_SHARED) !== 0,
    pcb: view.getBigUint64(168, true),
    peer: kind === SOCKINFO_UN ? view.getBigUint64(272, true) : 0n,
    tcp,
  }
}

/** A 16-byte address field; an IPv4 address lies in its last four bytes, also that of an IPv6 socket that speaks IPv4. */
export function endAt(bytes: Uint8Array, at: number, port: number, versions: number): End {
  return { address: bytes.slice((versions & INI_IPV4) === 0 ? at : at + 12, at + 16), port }
}

/** ESTABLISHED, CLOSE_WAIT (the other end closed first), FIN_WAIT_1 and FIN_WAIT_2 (closed for writing only): tcp_fsm.h. */
export const isOpen = (state: number): boolean => state === 4 || state === 5 || state === 6 || state === 9

export const isAt = (end: End, { address, port }: End): boolean =>
  end.port === port && end.address.length === address.length && end.address.every((byte, i) => byte === address[i])

/** The numbers of the sockets in an array of struct proc_fdinfo: PROC_PIDLISTFDS. */
export function socketsAmong(bytes: Uint8Array): number[] {
  const view = viewOf(bytes)
  const found: number[] = []
  for (let at = 0; at + SIZE.fd <= bytes.length; at += SIZE.fd)
    if (view.getUint32(at + 4, true) === PROX_FDTYPE_SOCKET) found.push(view.getInt32(at, true))
  return found
}
const PROX_FDTYPE_SOCKET = 2

export type Unique = { id: bigint; version: number }

/** struct proc_uniqidentifierinfo: a number that no other process of this boot has, and one that every exec changes. */
export function uniqueOf(bytes: Uint8Array): Unique {
  const view = viewOf(bytes)
  return { id: view.getBigUint64(16, true), version: view.getInt32(32, true) }
}

export type Info = {
  ppid: number
  uid: number
  realUid: number
  comm: string
  /** device of the controlling terminal, 0 for none */
  tty: number
  /** microseconds since the epoch; 0 where it is not told */
  startUs: bigint
}

const NODEV = 0xffff_ffff

/** struct proc_bsdinfo: PROC_PIDTBSDINFO, of our own user's processes only. */
export function infoOf(bytes: Uint8Array): Info {
  const view = viewOf(bytes)
  const tty = view.getUint32(108, true)
  return {
    ppid: view.getUint32(16, true),
    uid: view.getUint32(20, true),
    realUid: view.getUint32(28, true),
    // pbi_name is longer where it is set
    comm: text(bytes, 64, 32) || text(bytes, 48, 16),
    tty: tty === NODEV ? 0 : tty,
    startUs: view.getBigUint64(120, true) * 1_000_000n + view.getBigUint64(128, true),
  }
}

/** struct proc_bsdshortinfo: PROC_PIDT_SHORTBSDINFO, of anybody's processes. */
export function shortInfoOf(bytes: Uint8Array): Info {
  const view = viewOf(bytes)
  return {
    ppid: view.getUint32(4, true),
    uid: view.getUint32(36, true),
    realUid: view.getUint32(44, true),
    comm: text(bytes, 16, 16),
    tty: 0,
    startUs: 0n,
  }
}

/** struct proc_vnodepathinfo: PROC_PIDVNODEPATHINFO. Null where the folder has no path any more. */
export const currentFolder = (bytes: Uint8Array): string | null => text(bytes, 152, 1024) || null

export type Token = { uid: number; pid: number; version: number }

/** audit_token_t, eight words: bsm/audit.h; the last is the process's version, as in `Unique`. */
export function tokenOf(bytes: Uint8Array): Token {
  const view = viewOf(bytes)
  return { uid: view.getUint32(4, true), pid: view.getInt32(20, true), version: view.getInt32(28, true) }
}
