// What is the same for every process until the next boot: who we are, the boot id, the last pid, whether pidfs is there.

import { abi, cstring, libc, memory, O_CLOEXEC } from './libc.ts'
import { fileSystemOf, inodeOf } from './procfs.ts'

const PIDFS_MAGIC = 0x50494446 // linux/magic.h

const decoder = new TextDecoder()
const bootIdPath = cstring('/proc/sys/kernel/random/boot_id')
const loadPath = cstring('/proc/loadavg')
const line = memory(256)

export type Machine = { euid: number; boot: string; hasPidfs: boolean }

/** Throws where /proc is not mounted. */
export function readMachine(): Machine {
  const fd = libc().open(bootIdPath.at, O_CLOEXEC)
  const size = fd < 0 ? 0 : Number(libc().read(fd, line.at, line.bytes.length))
  if (fd >= 0) libc().close(fd)
  if (size < 36) throw new Error('/proc/sys/kernel/random/boot_id cannot be read')
  const boot = decoder.decode(line.bytes.subarray(0, 36))
  return { euid: libc().geteuid(), boot, hasPidfs: hasPidfs() }
}

/** Before Linux 6.9 all pidfds share one anonymous inode, which names nobody. */
function hasPidfs(): boolean {
  const fd = Number(libc().syscall(abi.pidfdOpen, process.pid, null, 0))
  if (fd < 0) return false
  const found = fileSystemOf(fd) === PIDFS_MAGIC
  libc().close(fd)
  return found
}

/** The pidfs inode of the process that has this pid now; null where it has ended. */
export function pidfdInode(pid: number): string | null {
  const fd = Number(libc().syscall(abi.pidfdOpen, pid, null, 0))
  if (fd < 0) return null
  const inode = inodeOf(fd)
  libc().close(fd)
  return inode
}

/** Tells whether any process or thread was made since: the pid given last, the fifth field of /proc/loadavg. */
export class ForkMark {
  #fd: number

  constructor() {
    this.#fd = libc().open(loadPath.at, O_CLOEXEC)
    if (this.#fd < 0) throw new Error('/proc/loadavg cannot be read')
  }

  /** -1 where it cannot be read, which equals no earlier mark. */
  read(): number {
    let end = Number(libc().pread(this.#fd, line.at, line.bytes.length, 0)) - 1
    if (end < 1) return -1
    let value = 0
    for (let unit = 1; end > 0; end--) {
      const byte = line.bytes[end - 1] ?? 0
      if (byte < 48 || byte > 57) return value
      value += (byte - 48) * unit
      unit *= 10
    }
    return -1
  }

  close() {
    if (this.#fd >= 0) libc().close(this.#fd)
    this.#fd = -1
  }
}
