// The processes that were looked at, each by its unique id: macOS has no handle that would keep a pid from being reused.
import type { HeldProcess, ProcessTable } from '../ancestors.ts'
import type { Instance, Process } from '../attestor.ts'
import { executable, folderOf, processInfo, sessionOf, startOf, uniqueIds } from './facts.ts'
import { sysctlByName } from './lib-system.ts'

const LIMIT = 512
/** After so many ms the facts are read again, whatever the marks say. */
const RECHECK_MS = 1000
const TRIES = 5

export type Machine = { euid: number; boot: string }

/** The boot session's UUID. Throws where the kernel has none. */
export function bootSession(): string {
  const bytes = sysctlByName('kern.bootsessionuuid')
  const uuid = bytes === null ? '' : new TextDecoder().decode(bytes).replaceAll('\0', '')
  if (!/^[0-9A-F-]{36}$/i.test(uuid)) throw new Error('kern.bootsessionuuid cannot be read')
  return uuid
}

export class Known implements HeldProcess {
  #loadedAt = 0
  #ppid = 0

  private constructor(
    readonly pid: number,
    readonly id: bigint,
    private machine: Machine,
    public process: Process,
    /** the real user differs from the effective one: a set-user-id program, which belongs to nobody alone */
    public mixedUser: boolean,
  ) {
    this.#loadedAt = performance.now()
    this.#ppid = process.ppid
  }

  /** Null where there is no such process. */
  static open(pid: number, machine: Machine): Known | null {
    const loaded = load(pid, machine)
    return loaded && new Known(pid, loaded.id, machine, loaded.process, loaded.mixedUser)
  }

  is(instance: Instance): boolean {
    const { pid, start, pidfd } = this.process
    return pid === instance.pid && start === instance.start && pidfd === instance.pidfd
  }

  refresh(): boolean {
    const now = uniqueIds(this.pid)
    if (now?.id !== this.id) return false
    const info = processInfo(this.pid)
    if (info === null) return false
    const same =
      String(now.version) === this.process.execMark && info.ppid === this.#ppid && info.uid === this.process.uid
    if (same && performance.now() - this.#loadedAt < RECHECK_MS) return true
    const loaded = load(this.pid, this.machine)
    if (loaded?.id !== this.id) return false
    // the object is replaced only if a fact moved
    if (!Bun.deepEquals(loaded.process, this.process)) this.process = loaded.process
    this.mixedUser = loaded.mixedUser
    this.#ppid = loaded.process.ppid
    this.#loadedAt = performance.now()
    return true
  }
}

type Loaded = { id: bigint; process: Process; mixedUser: boolean }

/** Everything was read of one process image: its unique id and version are the same before and after. */
function load(pid: number, { boot }: Machine): Loaded | null {
  for (let tries = 0; tries < TRIES; tries++) {
    const before = uniqueIds(pid)
    const info = processInfo(pid)
    const sid = sessionOf(pid)
    const exe = executable(pid)
    const argv = startOf(pid)?.argv ?? []
    const cwd = folderOf(pid)
    const after = uniqueIds(pid)
    if (before === null || after === null || info === null) return null
    if (before.id !== after.id || before.version !== after.version) continue
    const { ppid, uid, realUid, comm, tty, startUs } = info
    const start = String(startUs)
    const facts = { pidns: '', startedAtMs: Number(startUs / 1000n), uid, ppid, sid, tty, comm, exe, argv, cwd }
    const process = { pid, start, pidfd: String(before.id), boot, ...facts, execMark: String(before.version) }
    return { id: before.id, process, mixedUser: uid !== realUid }
  }
  return null
}

export class KnownTable implements ProcessTable {
  #known = new Map<number, Known>()

  constructor(readonly machine: Machine) {}

  pin(pid: number): Known | null {
    const known = this.#known.get(pid)
    this.#known.delete(pid)
    const held = known?.refresh() ? known : Known.open(pid, this.machine)
    if (held === null) return null
    this.#known.set(pid, held) // the last used is the last of the map
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= LIMIT) break
      this.#known.delete(oldest)
    }
    return held
  }

  instance(instance: Instance): Known | null {
    const held = this.pin(instance.pid)
    return held?.is(instance) ? held : null
  }

  /** A zombie has no unique id any more. */
  isAlive(instance: Instance): boolean {
    const unique = uniqueIds(instance.pid)
    return unique !== null && String(unique.id) === instance.pidfd
  }
}
