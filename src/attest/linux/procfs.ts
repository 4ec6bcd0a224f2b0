// Reading /proc through open directories, so that a reused pid can never be read by mistake: proc(5).
import {
  abi,
  cstring,
  EACCES,
  ENOENT,
  EPERM,
  ESRCH,
  errno,
  libc,
  memory,
  O_CLOEXEC,
  O_DIRECTORY,
  writeNumber,
} from './libc.ts'

const entries = memory(65536)
const content = memory(65536)
const link = memory(4096)
const name = memory(64)
const path = memory(64)
const status = memory(256)
const decoder = new TextDecoder()
const SEEK_SET = 0
let failure = 0
path.bytes.set(new TextEncoder().encode('/proc/'))

const SOCKET_LINK = new TextEncoder().encode('socket:[')
const procName = cstring('/proc')
const fdName = cstring('fd')

/** An open directory, or a negative number: -EACCES where it is not ours to read, another -errno where it is gone. */
export function openProcess(pid: number): number {
  writeNumber(path.bytes, 6, pid)
  return checked(libc().open(path.at, O_DIRECTORY))
}

/** The folder of a process's open files; as `openProcess`. */
export function openFiles(dir: number): number {
  return checked(libc().openat(dir, fdName.at, O_DIRECTORY))
}

function checked(fd: number): number {
  return fd >= 0 ? fd : -errno()
}

export function isDenied(negative: number): boolean {
  return negative === -EACCES || negative === -EPERM
}

/** The process, or the thread, has ended. Any other error (no more descriptors, no memory) tells nothing about it. */
export function isGone(negative: number): boolean {
  return negative === -ENOENT || negative === -ESRCH
}

/** All process ids of this pid namespace, ascending; -errno where /proc cannot be read. */
export function processIds(): number[] | number {
  const dir = checked(libc().open(procName.at, O_DIRECTORY))
  if (dir < 0) return dir
  const pids = numbersIn(dir)
  libc().close(dir)
  return pids
}

/** The numeric names in an open directory, in its order, from its start; -errno where reading fails. */
export function numbersIn(dir: number): number[] | number {
  const found: number[] = []
  libc().lseek(dir, 0, SEEK_SET)
  for (;;) {
    const size = Number(libc().syscall(abi.getdents64, dir, entries.at, entries.bytes.length))
    if (size < 0) return -errno()
    if (size === 0) return found
    for (let at = 0; at < size; at += entries.view.getUint16(at + 16, true)) {
      const value = parseNumber(entries.bytes, at + 19)
      if (value >= 0) found.push(value)
    }
  }
}

/** The decimal digits at `at` up to the first other byte; -1 without any. */
function parseNumber(bytes: Uint8Array, at: number): number {
  let value = -1
  for (let i = at; ; i++) {
    const byte = bytes[i] ?? 0
    if (byte < 48 || byte > 57) return value
    value = (value < 0 ? 0 : value * 10) + byte - 48
  }
}

/** The inode of the socket that is open as `fd`; 0 where that is something else, or nothing; -errno for other failures. */
export function socketInode(files: number, fd: number): number {
  writeNumber(name.bytes, 0, fd)
  const size = Number(libc().readlinkat(files, name.at, link.at, 64))
  if (size < 0) {
    const failure = -errno()
    return isGone(failure) ? 0 : failure
  }
  if (size < 10) return 0
  for (let i = 0; i < 8; i++) if (link.bytes[i] !== SOCKET_LINK[i]) return 0
  return parseNumber(link.bytes, 8)
}

/** `failed`: nothing is known about the open files, and nothing may be concluded. */
export type FilesRead = 'read' | 'gone' | 'denied' | 'failed'

export function reasonOf(negative: number): FilesRead {
  if (isDenied(negative)) return 'denied'
  if (isGone(negative)) return 'gone'
  failure = -negative
  return 'failed'
}

/** errno of the look that was `failed` last. */
export function lastFailure(): number {
  return failure
}

/** Shows `visit` the open sockets of the process that has this pid now, as `eachSocket`. */
export function eachSocketOf(pid: number, visit: (inode: number, fd: number) => boolean): FilesRead {
  const dir = openProcess(pid)
  if (dir < 0) return reasonOf(dir)
  const files = openFiles(dir)
  libc().close(dir)
  if (files < 0) return reasonOf(files)
  const read = eachSocket(files, visit)
  libc().close(files)
  return read
}

/**
 * Shows `visit` each open socket of a process until it answers true. The inode of a socket names one open file: unlike
 * other files, a socket cannot be opened a second time.
 */
export function eachSocket(files: number, visit: (inode: number, fd: number) => boolean): FilesRead {
  const fds = numbersIn(files)
  if (typeof fds === 'number') return reasonOf(fds)
  for (const fd of fds) {
    const inode = socketInode(files, fd)
    if (inode < 0) return reasonOf(inode)
    if (inode > 0 && visit(inode, fd)) return 'read'
  }
  return 'read'
}

/** The text of a link in an open directory; null where it cannot be read. */
export function readLink(dir: number, file: ReturnType<typeof cstring>): string | null {
  const size = Number(libc().readlinkat(dir, file.at, link.at, link.bytes.length))
  return size < 0 ? null : decoder.decode(link.bytes.subarray(0, size))
}

/** A file's content, at most `limit` bytes of it; null where it cannot be read. */
export function readFile(dir: number, file: ReturnType<typeof cstring>, limit: number): Uint8Array | null {
  const fd = libc().openat(dir, file.at, O_CLOEXEC)
  if (fd < 0) return null
  const parts: Uint8Array[] = []
  for (let total = 0; total < limit; ) {
    const size = Number(libc().read(fd, content.at, Math.min(content.bytes.length, limit - total)))
    if (size < 0) {
      libc().close(fd)
      return null
    }
    if (size === 0) break
    parts.push(content.bytes.slice(0, size))
    total += size
  }
  libc().close(fd)
  return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts)
}

/** `st_uid` of an open file. Of /proc/PID it is the effective user id, whatever the process's dumpable flag says. */
export function ownerOf(fd: number): number {
  return Number(libc().syscall(abi.fstat, fd, status.at, 0)) === 0 ? status.view.getUint32(abi.statUid, true) : -1
}

/** `st_ino` of an open file as decimal text; null where it cannot be asked. */
export function inodeOf(fd: number): string | null {
  return Number(libc().syscall(abi.fstat, fd, status.at, 0)) === 0 ? String(status.view.getBigUint64(8, true)) : null
}

/** `st_size` of an open folder of files: how many there are, since Linux 6.2; -errno where it cannot be asked. */
export function openCount(files: number): number {
  const asked = Number(libc().syscall(abi.fstat, files, status.at, 0)) === 0
  return asked ? Number(status.view.getBigInt64(48, true)) : -errno()
}

/** `f_type` of the file system that an open file is on. */
export function fileSystemOf(fd: number): number {
  return Number(libc().syscall(abi.fstatfs, fd, status.at, 0)) === 0 ? status.view.getUint32(0, true) : 0
}
