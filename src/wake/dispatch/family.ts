// All processes of one run, also those that left its process group, and how they are ended.
import { everyProcess, type Instance, type Seen, wasStartedWith } from './proc.ts'

const LOOK_MS = 50

/** The variable that every process of a run inherits. */
export const RUN_VARIABLE = 'M4A_RUN'

export class Family {
  /** pid → start of those that were seen: who is adopted by another process is still known. */
  readonly #known = new Map<number, string>()

  constructor(
    readonly run: string,
    /** The attendant, which leads their session. */
    readonly root: Instance,
    /** Milliseconds that they get after SIGTERM, and after SIGKILL. */
    readonly times: { readonly term: number; readonly kill: number },
  ) {
    this.#known.set(root.pid, root.start)
  }

  /** Looks for new members among `all` by parent, session and what is known; `closely` also by their environments. */
  look(all: readonly Seen[] = everyProcess(), closely = false): Seen[] {
    const entry = `${RUN_VARIABLE}=${this.run}`
    const members = new Map<number, Seen>()
    const byParent = Map.groupBy(all, ({ ppid }) => ppid)
    const add = (one: Seen): void => {
      if (members.has(one.pid) || one.pid === process.pid) return
      members.set(one.pid, one)
      this.#known.set(one.pid, one.start)
      for (const child of byParent.get(one.pid) ?? []) add(child)
    }
    for (const one of all)
      if (
        this.#known.get(one.pid) === one.start ||
        one.sid === this.root.pid ||
        (closely && wasStartedWith(one.pid, entry))
      )
        add(one)
    return [...members.values()]
  }

  /** Members beside the attendant. */
  others(): Seen[] {
    return this.look(undefined, true).filter(({ pid }) => pid !== this.root.pid)
  }

  /**
   * Ends every member but the attendant: SIGTERM, then SIGKILL. The attendant then writes down how its child ended and ends
   * by itself; where it does not, it is ended too.
   * @returns how many there were, and whether SIGTERM was not enough
   */
  async end(termMs = this.times.term): Promise<{ ended: number; forced: boolean }> {
    const seen = new Set<string>()
    const count = (members: readonly Seen[]) => {
      for (const { pid, start } of members) seen.add(`${pid} ${start}`)
      return members
    }
    for (const { pid } of count(this.others())) signal(pid, 'SIGTERM')
    let forced = false
    for (const end = performance.now() + termMs; count(this.others()).length > 0 && performance.now() < end; )
      await Bun.sleep(LOOK_MS)
    for (const end = performance.now() + this.times.kill; performance.now() < end; await Bun.sleep(LOOK_MS)) {
      // again and again: a member that forks while we look has a child that we have not seen
      const left = count(this.others())
      if (left.length === 0) break
      forced = true
      for (const { pid } of left) signal(pid, 'SIGKILL')
    }
    return { ended: seen.size, forced }
  }
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // it ended while we looked
  }
}
