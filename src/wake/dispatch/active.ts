// The runs of this moment: which one a caller is part of, by its ancestors as the kernel shows them.
import type { Run } from '../../engine/dispatch/runs.ts'
import type { Caller } from '../../engine/mail.ts'
import type { SessionRow } from '../../store/rows.ts'
import { RUN_VARIABLE } from './family.ts'
import { type Instance, runs, seenAt, wasStartedWith } from './proc.ts'

export type ActiveRun = Run & { readonly run: string; readonly root: Instance }

const DEEPEST = 128

export class ActiveRuns {
  readonly #runs = new Map<string, ActiveRun>()
  readonly #found = new WeakMap<SessionRow, ActiveRun>()

  add(run: ActiveRun): void {
    this.#runs.set(run.run, run)
  }

  delete(run: string): void {
    this.#runs.delete(run)
  }

  /** The run of the caller's process. Nothing that the caller says is looked at. */
  of({ session }: Caller): Run | null {
    if (this.#runs.size === 0) return null
    const known = this.#found.get(session)
    if (known && this.#runs.has(known.run)) return known
    const found = this.#search(session.instance)
    if (found) this.#found.set(session, found)
    return found
  }

  #search(instance: Instance): ActiveRun | null {
    if (!runs(instance)) return null
    const roots = new Map([...this.#runs.values()].map((run) => [run.root.pid, run]))
    let pid = instance.pid
    for (let level = 0; level < DEEPEST && pid > 1; level++) {
      const seen = seenAt(pid)
      if (!seen) break
      const run = roots.get(pid)
      if (run?.root.start === seen.start) return run
      pid = seen.ppid
    }
    // one that left the tree still carries the mark of its run, unless it took pains to lose it
    for (const run of this.#runs.values()) if (wasStartedWith(instance.pid, `${RUN_VARIABLE}=${run.run}`)) return run
    return null
  }
}
