// One process held by its open handle: while we have it, Windows gives its pid to nobody else.
import type { HeldProcess } from '../ancestors.ts'
import type { Instance, Process } from '../attestor.ts'
import { splitCommandLine } from './command-line.ts'
import {
  basicsOf,
  commandLine,
  createdAt,
  currentFolder,
  environmentOf,
  imagePath,
  isRunning,
  ownerOf,
} from './facts.ts'
import { relativeId, unixMs } from './layout.ts'
import { windows } from './libraries.ts'

const PROCESS_QUERY_LIMITED_INFORMATION = 0x1000
const PROCESS_VM_READ = 0x10
const SYNCHRONIZE = 0x100000
/** After so many ms the current folder is read again. */
const RECHECK_MS = 1000

/** What is the same for every process: this boot, and who we are. */
export type Machine = { boot: string; owner: string }

export class Pinned implements HeldProcess {
  /** for the table's least-recently-used order */
  used = 0
  #handle: bigint
  #peb: bigint
  #loadedAt = performance.now()

  private constructor(
    handle: bigint,
    peb: bigint,
    /** its user's SID; null where it is hidden from us */
    readonly owner: string | null,
    readonly created: bigint,
    public process: Process,
  ) {
    this.#handle = handle
    this.#peb = peb
  }

  /** The error number of OpenProcess where that process cannot be opened; null where it has ended. */
  static open(pid: number, machine: Machine): Pinned | number | null {
    const { kernel32 } = windows()
    const rights = PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE
    // memory may be closed to us where the rest is open: a fact less, never a reason to refuse
    let handle = kernel32.OpenProcess(rights | PROCESS_VM_READ, 0, pid)
    if (handle === 0n) handle = kernel32.OpenProcess(rights, 0, pid)
    if (handle === 0n) return kernel32.GetLastError()
    const pinned = load(handle, pid, machine)
    if (pinned === null) kernel32.CloseHandle(handle)
    return pinned && new Pinned(handle, ...pinned)
  }

  get pid(): number {
    return this.process.pid
  }

  is(instance: Instance): boolean {
    return this.process.pid === instance.pid && this.process.start === instance.start && instance.pidfd === null
  }

  refresh(): boolean {
    if (!isRunning(this.#handle)) return false
    if (performance.now() - this.#loadedAt > RECHECK_MS) {
      const cwd = currentFolder(this.#handle, this.#peb)
      if (cwd !== this.process.cwd) this.process = { ...this.process, cwd }
      this.#loadedAt = performance.now()
    }
    return true
  }

  environment(names: readonly string[]): Record<string, string> {
    return environmentOf(this.#handle, this.#peb, names)
  }

  close() {
    windows().kernel32.CloseHandle(this.#handle)
  }
}

type Loaded = [peb: bigint, owner: string | null, created: bigint, process: Process]

function load(handle: bigint, pid: number, machine: Machine): Loaded | null {
  const created = createdAt(handle)
  const basics = basicsOf(handle)
  if (created === null || basics === null) return null
  const owner = ownerOf(handle)
  const exe = imagePath(handle)
  const start = String(created)
  const process: Process = {
    pid,
    start,
    pidfd: null,
    boot: machine.boot,
    pidns: '',
    startedAtMs: unixMs(created),
    uid: uidOf(owner, machine.owner),
    ppid: basics.ppid,
    sid: 0,
    tty: 0,
    comm: exe === null ? '' : exe.slice(exe.lastIndexOf('\\') + 1),
    exe,
    argv: splitCommandLine(commandLine(handle, basics.peb) ?? ''),
    cwd: currentFolder(handle, basics.peb),
    // a process runs one program from its start to its end
    execMark: start,
  }
  return isRunning(handle) ? [basics.peb, owner, created, process] : null
}

/** Users of two domains may have the same last number; then the other one has none. */
function uidOf(owner: string | null, ours: string): number {
  if (owner === null) return -1
  const uid = relativeId(owner)
  return owner !== ours && uid === relativeId(ours) ? -1 : uid
}
