// One process instance, held by its open /proc folder: after its end every read fails, it never reaches the next owner.
import type { Instance, Process } from '../attestor.ts'
import { ChildSockets } from './child-sockets.ts'
import { cstring, libc, memory, O_CLOEXEC } from './libc.ts'
import { type Machine, pidfdInode } from './machine.ts'
import { argvOf, childrenOf, realUidOf, variablesOf } from './process-files.ts'
import { eachSocket, openFiles, openProcess, ownerOf, readLink, socketInode } from './procfs.ts'
import { startedAt } from './started.ts'
import { openStat, readStat, stat, statName } from './stat.ts'

const file = {
  exe: cstring('exe'),
  cwd: cstring('cwd'),
  environ: cstring('environ'),
  pidns: cstring('ns/pid'),
}
const DELETED = ' (deleted)'
const byte = memory(64)

export class Pinned {
  /** for the table's least-recently-used order */
  used = 0
  closed = false
  /** when the facts were last read, `performance.now()` */
  loadedAt = 0
  /** the real user id differs from the effective one: a set-user-id program, which belongs to nobody alone */
  mixedUser = false
  #dir: number
  #stat: number
  /** the folder of open files; negative: not ours to read */
  #files: number
  /**
   * /proc/PID/environ: an open one belongs to the program image of its time and reads as empty after the next exec or
   * the end, so one byte of it tells "still the same image" for a fraction of the stat line. Negative: not readable.
   */
  #image = -1
  #machine: Machine
  #childSockets = new ChildSockets()
  #process: Process | undefined
  #startCode = 0
  #startBreak = 0
  #startStack = 0
  #argStart = 0
  #envEnd = 0

  private constructor(
    readonly pid: number,
    dir: number,
    statFile: number,
    machine: Machine,
  ) {
    this.#dir = dir
    this.#stat = statFile
    this.#files = openFiles(dir)
    this.#machine = machine
  }

  /** Null: no such process, it has ended, or it is hidden from us. */
  static open(pid: number, machine: Machine): Pinned | null {
    const dir = openProcess(pid)
    if (dir < 0) return null
    const statFile = openStat(dir)
    if (statFile < 0) {
      libc().close(dir)
      return null
    }
    const pinned = new Pinned(pid, dir, statFile, machine)
    if (pinned.load()) return pinned
    pinned.close()
    return null
  }

  /** The facts as last read. */
  get process(): Process {
    if (this.#process === undefined) throw new Error('a pinned process is loaded before it is used')
    return this.#process
  }

  get readable(): boolean {
    return this.#files >= 0
  }

  is(instance: Instance): boolean {
    const { pid, start, pidfd } = this.process
    return pid === instance.pid && start === instance.start && pidfd === instance.pidfd
  }

  /** Keeps `before`, facts of this instance from an earlier pin, where none has moved. */
  resume(before: Process) {
    if (Bun.deepEquals({ ...this.process, startedAtMs: before.startedAtMs }, before)) this.#process = before
  }

  /** The same image, of the same user, as when the facts were read? Cheap; false says only: look closer. */
  unchanged(): boolean {
    return (
      !this.closed &&
      this.#image >= 0 &&
      Number(libc().pread(this.#image, byte.at, 1, 0)) === 1 &&
      ownerOf(this.#dir) === this.process.uid
    )
  }

  /** Runs still? Re-reads what moved: an exec (same pid, start and sockets, other program), a new parent, a new user. */
  refresh(): boolean {
    if (this.closed || !readStat(this.#stat)) return false
    const known = this.process
    const same =
      stat.startStack === this.#startStack &&
      stat.argStart === this.#argStart &&
      stat.envEnd === this.#envEnd &&
      stat.startCode === this.#startCode &&
      stat.startBreak === this.#startBreak &&
      stat.ppid === known.ppid &&
      stat.sid === known.sid &&
      stat.tty === known.tty &&
      ownerOf(this.#dir) === known.uid
    return (same && (this.#image < 0 || this.unchanged())) || this.load()
  }

  /** Reads all facts; `process` is replaced only if one differs. False: it has ended. */
  load(): boolean {
    for (let tries = 0; tries < 5; tries++) {
      if (!readStat(this.#stat)) return false
      const mark = execMark()
      this.#openImage()
      const uid = ownerOf(this.#dir)
      const real = realUidOf(this.#dir)
      const exe = readLink(this.#dir, file.exe)
      const cwd = readLink(this.#dir, file.cwd)
      const argv = argvOf(this.#dir)
      const pidns = this.#process?.pidns || readLink(this.#dir, file.pidns)
      const pidfd = this.#machine.hasPidfs ? (this.#process?.pidfd ?? pidfdInode(this.pid)) : null
      // The pid was not given on while `dir` still reads a process, so the pidfd was this one's.
      if (!readStat(this.#stat) || real === null || argv === null) return false
      if (execMark() !== mark || ownerOf(this.#dir) !== uid) continue
      if (this.#machine.hasPidfs && pidfd === null) return false
      if (this.#files < 0) this.#files = openFiles(this.#dir) // an exec can make a process readable
      this.mixedUser = real !== uid
      this.#startCode = stat.startCode
      this.#startBreak = stat.startBreak
      this.#startStack = stat.startStack
      this.#argStart = stat.argStart
      this.#envEnd = stat.envEnd
      this.loadedAt = performance.now()
      this.#keep({
        pid: this.pid,
        start: String(stat.start),
        startedAtMs: this.#process?.startedAtMs ?? startedAt(stat.start),
        pidfd,
        boot: this.#machine.boot,
        pidns: pidns ?? '',
        uid,
        ppid: stat.ppid,
        sid: stat.sid,
        tty: stat.tty,
        comm: statName(),
        exe: exe?.endsWith(DELETED) ? exe.slice(0, -DELETED.length) : exe,
        argv,
        cwd: cwd?.endsWith(DELETED) ? cwd.slice(0, -DELETED.length) : cwd,
        execMark: mark,
      })
      return true
    }
    return false
  }

  #openImage() {
    if (this.#image >= 0) libc().close(this.#image)
    this.#image = libc().openat(this.#dir, file.environ.at, O_CLOEXEC)
  }

  #keep(next: Process) {
    if (this.#process === undefined || !Bun.deepEquals(this.#process, next)) this.#process = next
  }

  /** Is `fd` of this process that socket, now? */
  holds(fd: number, inode: number): boolean {
    return this.readable && socketInode(this.#files, fd) === inode
  }

  /** The descriptor under which this process has that socket open; -1 for none. */
  find(inode: number): number {
    let at = -1
    if (!this.readable) return at
    eachSocket(this.#files, (seen, fd) => {
      if (seen === inode) at = fd
      return at >= 0
    })
    return at
  }

  /** Pids of the children of all its threads; null where the kernel does not tell (CONFIG_PROC_CHILDREN). */
  children(): number[] | null {
    return childrenOf(this.#dir)
  }

  /** Children that have that socket too, by the fork mark of now; null where it cannot be told. */
  childrenWith(inode: number, mark: number, now: number): number[] | null {
    return this.#childSockets.holders(inode, mark, now, () => this.children())
  }

  environment(names: readonly string[]): Record<string, string> {
    return variablesOf(this.#dir, names)
  }

  close() {
    if (this.closed) return
    this.closed = true
    libc().close(this.#stat)
    libc().close(this.#dir)
    if (this.#files >= 0) libc().close(this.#files)
    if (this.#image >= 0) libc().close(this.#image)
  }
}

/** What every exec moves (address layout) or replaces (image), from the line last read. */
function execMark(): string {
  return `${stat.startStack}:${stat.argStart}:${stat.envEnd}:${stat.startCode}:${stat.startBreak}`
}
