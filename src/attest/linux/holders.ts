// Which processes on this machine hold given sockets: one pass over /proc/*/fd. Runs in the worker.
import { descriptorLimit, keptWithin } from './descriptors.ts'
import { libc } from './libc.ts'
import { ForkMark, readMachine } from './machine.ts'
import { belongsTo } from './process-files.ts'
import {
  eachSocket,
  type FilesRead,
  lastFailure,
  openCount,
  openFiles,
  openProcess,
  processIds,
  reasonOf,
} from './procfs.ts'

/** A process that has the socket `inode` open, and one descriptor under which it has it. */
export type Holder = { inode: number; pid: number; fd: number }

export type ScanReport = {
  holders: Holder[]
  /** processes of our own user whose open files we may not see, at most 8; looked for where a socket has no holder */
  unreadable: number[]
  /** the fork mark from before the pass: a child made later was not seen */
  forkMark: number
  /** how many processes were seen */
  processes: number
  /** false: something could not be looked at for want of descriptors or memory, and nothing follows from `holders` */
  complete: boolean
  /** why it is not complete, such as EMFILE; 0 where it is */
  errno: number
}

// Not seen: a descriptor that travels in a Unix socket's queue or is registered in an io_uring, and one in the table of
// its own that a thread other than the first made by unshare(2).

export class HolderScan {
  #euid = readMachine().euid
  #mark = new ForkMark()
  /** Open folders kept from pass to pass, so that a quiet process costs one fstat: a folder of a dead process only fails. */
  #kept = new Map<number, number>()
  #most = keptWithin(descriptorLimit())
  #keep = this.#most
  /** Linux 6.2 and later tell the number of open files as the size of /proc/PID/fd */
  #counts = countsOpenFiles()

  /** All holders of these sockets. Each process is looked at once, after the call began. */
  run(inodes: readonly number[]): ScanReport {
    const wanted = new Set(inodes)
    const forkMark = this.#mark.read()
    const listed = processIds()
    const pids = typeof listed === 'number' ? [] : listed
    const holders: Holder[] = []
    const denied: number[] = []
    let errno = typeof listed === 'number' ? -listed : 0
    for (const pid of pids) {
      const read = this.#look(pid, wanted, holders)
      if (read === 'denied') denied.push(pid)
      if (read === 'failed') errno = lastFailure()
    }
    this.#forget(pids)
    if (errno > 0) this.#keepFewer()
    else if (this.#keep < this.#most) this.#keep++
    const found = new Set(holders.map((holder) => holder.inode))
    const missing = inodes.some((inode) => !found.has(inode))
    const unreadable = missing ? denied.filter((pid) => belongsTo(pid, this.#euid)).slice(0, 8) : []
    return { holders, unreadable, forkMark, processes: pids.length, complete: errno === 0, errno }
  }

  #look(pid: number, wanted: ReadonlySet<number>, holders: Holder[]): FilesRead {
    const before = holders.length
    const take = (inode: number, fd: number) => {
      // dup(2) within one process is no sharing
      if (wanted.has(inode) && !holders.some((holder, at) => at >= before && holder.inode === inode))
        holders.push({ inode, pid, fd })
      return false
    }
    const kept = this.#kept.get(pid)
    if (kept !== undefined) {
      const read = this.#read(kept, take)
      if (read !== 'gone') return read
      this.#drop(pid) // its process has ended; the pid may have a new one
    }
    const dir = openProcess(pid)
    if (dir < 0) return reasonOf(dir)
    const folder = openFiles(dir)
    libc().close(dir)
    if (folder < 0) return reasonOf(folder)
    const read = this.#read(folder, take)
    if (read === 'read' && this.#kept.size < this.#keep) this.#kept.set(pid, folder)
    else libc().close(folder)
    return read
  }

  #read(folder: number, take: (inode: number, fd: number) => boolean): FilesRead {
    if (this.#counts) {
      const count = openCount(folder)
      if (count < 0) return reasonOf(count)
      if (count === 0) return 'read' // a kernel thread
    }
    return eachSocket(folder, take)
  }

  #forget(pids: readonly number[]) {
    if (this.#kept.size <= pids.length) return
    const present = new Set(pids)
    for (const pid of this.#kept.keys()) if (!present.has(pid)) this.#drop(pid)
  }

  /** What could not be looked at was so most likely for want of descriptors: the next pass gets ours. */
  #keepFewer() {
    for (const pid of [...this.#kept.keys()]) this.#drop(pid)
    this.#keep = Math.floor(this.#keep / 2)
  }

  #drop(pid: number) {
    const files = this.#kept.get(pid)
    if (files !== undefined) libc().close(files)
    this.#kept.delete(pid)
  }

  close() {
    for (const pid of [...this.#kept.keys()]) this.#drop(pid)
    this.#mark.close()
  }
}

function countsOpenFiles(): boolean {
  const dir = openProcess(process.pid)
  const files = dir < 0 ? -1 : openFiles(dir)
  const counts = files >= 0 && openCount(files) > 0
  if (files >= 0) libc().close(files)
  if (dir >= 0) libc().close(dir)
  return counts
}
