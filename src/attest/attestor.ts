// The question "which process is at the other end of this connection", as one interface for every platform.
import { openDarwin } from './darwin/darwin.ts'
import { openLinux } from './linux/linux.ts'
import { refuseAll } from './none.ts'
import { openWindows } from './windows/windows.ts'

/** One process, once: the pid alone is reused, and so is (pid, start) within one tick of the clock. */
export type Instance = {
  pid: number
  /**
   * start time, decimal, as the kernel gives it. Linux: clock ticks since boot, proc_pid_stat(5) field 22.
   * macOS: microseconds since the epoch. Windows: the creation FILETIME, 100 ns since 1601.
   */
  start: string
  /**
   * a number that the kernel gives one process in a boot. Linux: its inode on pidfs, null before 6.9. macOS: its unique
   * id. Windows: null, because a start time of 100 ns is enough there.
   */
  pidfd: string | null
}

/** What the kernel says about a process. The object is replaced, never changed, when a fact moves. */
export type Process = Instance & {
  /**
   * names this boot. Linux: /proc/sys/kernel/random/boot_id. macOS: kern.bootsessionuuid. Windows: the boot time without
   * the later settings of the clock
   */
  boot: string
  /** Linux: the link /proc/PID/ns/pid, such as `pid:[4026531836]`; empty where it is not ours to read, or there is none */
  pidns: string
  /** when it started, in ms since the epoch: for people to read; no part of any id, because the clock may be stepped */
  startedAtMs: number
  /** effective user id; on Windows the last number of the owner's SID, -1 for another owner with our number or a hidden one */
  uid: number
  ppid: number
  /** session id: the pid of the session leader, which may have ended; 0 on Windows */
  sid: number
  /** device number of the controlling terminal, 0 for none, and on Windows */
  tty: number
  comm: string
  /** path of the executable, without the ` (deleted)` of one replaced while it runs; null where unreadable */
  exe: string | null
  /** at most 256 KiB of it */
  argv: string[]
  cwd: string | null
  /** changes whenever the process execs; compare, never interpret */
  execMark: string
}

/** `seen` holds what was found (pid, uid, state, holders …), never an argument vector, an environment or a path. */
export type AttestRefusal = {
  ok: false
  kind: 'peer_gone' | 'other_user' | 'unreadable' | 'no_holder' | 'shared_connection' | 'unsupported_platform'
  seen: Record<string, string | number>
}

export type Attested = {
  ok: true
  process: Process
  /**
   * `scan`: the holders of the socket were just searched on the whole machine; `table`: the kernel's own list names one
   * holder, which was looked at; `warm`: an earlier proof was re-checked; `unix`: the other end of a Unix socket
   */
  via: 'warm' | 'scan' | 'table' | 'unix'
  /** stable name of this very socket, never reused in a boot: peer port or `unix`, then the kernel's socket cookie */
  connection: string
  /** Is our end of it still open? Cheap; absent where this platform cannot tell. Holds nothing open. */
  isOpen?: () => boolean
}

export type Verdict = Attested | AttestRefusal

export type Endpoint = { address: string; port: number }

/** Who connected a Unix socket, taken when it was accepted. Holds nothing open; `owner` is the platform's own. */
export type UnixPeer = { readonly pid: number; readonly uid: number; readonly owner: object }

export interface Attestor {
  /**
   * The process at the other end of a TCP connection on loopback.
   * `peer` is `server.requestIP(request)`: it is live (null once the peer has reset), and it is called before and after
   * the look-up with nothing awaited between, so that a port taken over by another process cannot be named instead.
   * `local` is the listener's explicit address, 127.0.0.1 or ::1, never a wildcard.
   * Answers at once for a socket that is proved already; the first call on a socket is a promise, because it waits for
   * the search of all holders. Never rejects.
   */
  tcp(peer: () => Endpoint | null, local: Endpoint): Verdict | Promise<Verdict>
  /** Takes the peer of an accepted Unix socket. Cheap; call it at accept, when the file descriptor is surely open. */
  accept(fd: number): UnixPeer
  /** The process at the other end of that Unix socket: the one that connected, alive, and its only holder now. */
  unix(peer: UnixPeer): Verdict | Promise<Verdict>
  /** Our own process; null where this platform cannot tell. Like `ancestors` it opens nothing that attestation needs. */
  self(): Process | null
  /**
   * The ancestors, nearest first, up to and with pid 1. Each parent was proved to be older than its child and still
   * its parent; the chain ends where that fails. Ancestors of other users are among them, with what is readable
   * (`exe` and `cwd` may be null): look at `uid`.
   */
  ancestors(process: Process): Process[]
  /** The named variables of that instance's environment at its last exec; nothing of it where it is not readable. */
  environment(instance: Instance, names: readonly string[]): Record<string, string>
  /** Does that very process instance still run? A zombie has ended. */
  alive(instance: Instance): boolean
  /** Attests a connection to ourselves, which must name our own pid. */
  selfTest(): Promise<{ ok: true } | { ok: false; reason: string }>
  close(): void
}

/** By `process.platform`. Each opens the system's libraries only when it is called. */
const OPEN: { readonly [platform: string]: () => Attestor } = {
  linux: openLinux,
  darwin: openDarwin,
  win32: openWindows,
}

/** The attestor of this platform; one that refuses everything where there is none, or where it cannot start. */
export function openAttestor(): Attestor {
  const open = OPEN[process.platform]
  if (open === undefined) return refuseAll(`no attestation on ${process.platform}`)
  try {
    return open()
  } catch (error) {
    return refuseAll(error instanceof Error ? error.message : 'attestation cannot start')
  }
}
