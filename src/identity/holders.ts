// Which processes have sessions: by process instance and account, in memory, so that a known caller costs look-ups only.
import type { Instance, Process } from '../attest/attestor.ts'
import type { SessionRow } from '../store/rows.ts'
import type { Registry } from '../store/store.ts'
import type { Said } from './corroborate.ts'

/** One process instance as one account's sender: its own session and one for each conversation that it names. */
export class Holder {
  own: SessionRow | null = null
  readonly conversations = new Map<string, SessionRow>()
  /** Conversations whose session is being made. */
  readonly registering = new Set<string>()
  /** The process as it was last seen; null until then, after a restart of the mailbox. */
  process: Process | null = null
  /** What its client called itself last: an older client says so once, when it connects. */
  client: Said['client']
  /** What the facts on its cards were read from, and when they are read again (ms). */
  read: { process: Process | null; client: string; due: number } = { process: null, client: '', due: 0 }

  constructor(
    readonly account: number,
    readonly instance: Instance,
  ) {}

  session(conversation: string | null): SessionRow | null {
    return conversation === null ? this.own : (this.conversations.get(conversation) ?? null)
  }

  add(session: SessionRow): void {
    if (session.conversation === null) this.own = session
    else {
      this.registering.delete(session.conversation)
      this.conversations.set(session.conversation, session)
    }
  }

  sessions(): SessionRow[] {
    return this.own ? [this.own, ...this.conversations.values()] : [...this.conversations.values()]
  }
}

const NOBODY: ReadonlySet<number> = new Set()

/** The same process instance? The pid alone is reused, and so is (pid, start) within one tick. */
export const sameInstance = (a: Instance, b: Instance): boolean =>
  a.pid === b.pid && a.start === b.start && a.pidfd === b.pidfd

export class Holders {
  readonly #byPid = new Map<number, Holder[]>()

  constructor(readonly registry: Registry) {}

  /** The holder of that instance and account; made when there is none. */
  of(instance: Instance, account: number): Holder {
    const known = this.#byPid.get(instance.pid) ?? []
    const found = known.find((holder) => holder.account === account && sameInstance(holder.instance, instance))
    if (found) return found
    const { pid, start, pidfd } = instance
    const holder = new Holder(account, { pid, start, pidfd })
    this.#byPid.set(pid, [...known, holder])
    return holder
  }

  /** Accounts that exist and have a session of that instance that has not ended. */
  accounts(instance: Instance): ReadonlySet<number> {
    const known = this.#byPid.get(instance.pid)
    if (!known) return NOBODY
    const accounts = known.filter(
      (holder) =>
        sameInstance(holder.instance, instance) &&
        holder.sessions().some(({ ended }) => ended === null) &&
        this.#exists(holder.account),
    )
    return new Set(accounts.map(({ account }) => account))
  }

  /** A live session of that instance, of whatever account: what a process was spawned by. */
  anySession(instance: Instance): SessionRow | null {
    const known = this.#byPid.get(instance.pid) ?? []
    for (const holder of known)
      if (sameInstance(holder.instance, instance))
        for (const session of holder.sessions()) if (session.ended === null) return session
    return null
  }

  /** The registry keeps a removed account's row by id, for old letters; by name it is gone. */
  #exists(id: number): boolean {
    const account = this.registry.accountById(id)
    return account !== undefined && this.registry.account(account.name)?.id === id
  }

  /** Forgets the instances for which `gone` holds. */
  prune(gone: (instance: Instance) => boolean): void {
    for (const [pid, known] of this.#byPid) {
      const left = known.filter(({ instance }) => !gone(instance))
      if (left.length === 0) this.#byPid.delete(pid)
      else if (left.length < known.length) this.#byPid.set(pid, left)
    }
  }
}
