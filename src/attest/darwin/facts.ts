// What the macOS kernel tells of a process by its pid: libproc.h. Each answer is of whoever has that pid at that moment.
import { type Memory, memory } from '../memory.ts'
import { type Started, startedWith } from './arguments.ts'
import {
  currentFolder,
  type Info,
  infoOf,
  SIZE,
  type SocketInfo,
  shortInfoOf,
  socketInfo,
  socketsAmong,
  type Token,
  text,
  tokenOf,
  type Unique,
  uniqueOf,
} from './layout.ts'
import { EACCES, EPERM, errno, libSystem, sysctl } from './lib-system.ts'

const PROC_PIDLISTFDS = 1
const PROC_PIDTBSDINFO = 3
const PROC_PIDVNODEPATHINFO = 9
const PROC_PIDT_SHORTBSDINFO = 13
const PROC_PIDUNIQIDENTIFIERINFO = 17
const PROC_PIDFDSOCKETINFO = 3
const CTL_KERN = 1
const KERN_PROCARGS2 = 49
const SOL_LOCAL = 0
const LOCAL_PEERTOKEN = 6
const TOKEN_BYTES = 32

const made = () => ({ one: memory(SIZE.path), list: memory(16_384), size: memory(8) })
let scratch: ReturnType<typeof made> | undefined
/** Made at the first use: this file may be loaded on a platform where nobody asks. */
const buffers = () => {
  scratch ??= made()
  return scratch
}

/** A structure about `pid`; null where it has ended, is a zombie, is not ours to ask, or has another size here. */
function ask(pid: number, flavor: number, size: number): Uint8Array | null {
  const { at, bytes } = buffers().one
  return libSystem().proc_pidinfo(pid, flavor, 0n, at, size) === size ? bytes.subarray(0, size) : null
}

export function uniqueIds(pid: number): Unique | null {
  const bytes = ask(pid, PROC_PIDUNIQIDENTIFIERINFO, SIZE.unique)
  return bytes && uniqueOf(bytes)
}

/** Of a process of another user with what everybody may know. */
export function processInfo(pid: number): Info | null {
  const own = ask(pid, PROC_PIDTBSDINFO, SIZE.info)
  if (own !== null) return infoOf(own)
  const short = ask(pid, PROC_PIDT_SHORTBSDINFO, SIZE.shortInfo)
  return short && shortInfoOf(short)
}

export function folderOf(pid: number): string | null {
  const bytes = ask(pid, PROC_PIDVNODEPATHINFO, SIZE.folders)
  return bytes && currentFolder(bytes)
}

export function executable(pid: number): string | null {
  const { at, bytes } = buffers().one
  const size = libSystem().proc_pidpath(pid, at, bytes.length)
  return size > 0 ? text(bytes, 0, size) : null
}

export function startOf(pid: number): Started | null {
  const bytes = sysctl([CTL_KERN, KERN_PROCARGS2, pid])
  return bytes && startedWith(bytes)
}

/** The session leader's pid, which may have ended; 0 where the process has. */
export const sessionOf = (pid: number): number => Math.max(0, libSystem().getsid(pid))

/** Numbers of the open sockets of `pid`; `denied` where they are not ours to see, `gone` where the process has ended. */
export function socketsOf(pid: number): number[] | 'denied' | 'gone' {
  const bytes = listed((at, room) => libSystem().proc_pidinfo(pid, PROC_PIDLISTFDS, 0n, at, room))
  if (bytes !== null) return socketsAmong(bytes)
  const error = errno()
  return error === EPERM || error === EACCES ? 'denied' : 'gone'
}

/** Null where that descriptor is no socket, or not any more. */
export function socketOf(pid: number, fd: number): SocketInfo | null {
  const { at, bytes } = buffers().one
  const size = libSystem().proc_pidfdinfo(pid, fd, PROC_PIDFDSOCKETINFO, at, SIZE.socket)
  return size === SIZE.socket ? socketInfo(bytes.subarray(0, SIZE.socket)) : null
}

/** All process ids; null where the kernel does not list them. */
export function processIds(): number[] | null {
  const bytes = listed((at, room) => libSystem().proc_listallpids(at, room) * 4)
  if (bytes === null) return null
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Array.from({ length: bytes.length >> 2 }, (_, i) => view.getInt32(4 * i, true)).filter((pid) => pid > 0)
}

/** A list of unknown length: a full buffer may have cut it. Null, and errno is set, where there is none. */
function listed(fill: (at: Memory['at'], room: number) => number): Uint8Array | null {
  for (;;) {
    const { list } = buffers()
    const size = fill(list.at, list.bytes.length)
    if (size <= 0) return null
    if (size + SIZE.fd < list.bytes.length) return list.bytes.slice(0, size)
    buffers().list = memory(list.bytes.length * 2)
  }
}

/** Who used the other end of a Unix socket last; null where there is no other end. */
export function peerToken(fd: number): Token | null {
  const { one, size } = buffers()
  size.view.setUint32(0, TOKEN_BYTES, true)
  if (libSystem().getsockopt(fd, SOL_LOCAL, LOCAL_PEERTOKEN, one.at, size.at) !== 0) return null
  return size.view.getUint32(0, true) === TOKEN_BYTES ? tokenOf(one.bytes.subarray(0, TOKEN_BYTES)) : null
}
