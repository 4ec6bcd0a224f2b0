// Open connections: how many each account has, and all together. Of most nobody tells us that they have ended, so they are asked.
import { LIMITS } from '../../wire/limits.ts'
import { Refusal } from '../../wire/refusal.ts'

type Counted = { readonly account: number; readonly isOpen: () => boolean }

/** Milliseconds for which an answer holds that all are open: so long nobody is asked again. */
const FULL_MS = 1_000
/** Stands for all accounts; row ids begin with 1. */
const ALL = 0

export class Connections {
  readonly #counted = new Map<string, Counted>()
  readonly #counts = new Map<number, number>()
  /** account, or ALL → until when it is known to be full (`performance.now()`) */
  readonly #full = new Map<number, number>()

  /**
   * A call of `account` over the connection of that name, which is never another's. It counts for whoever called on it last.
   * @throws Refusal `too_many` {limit, retry_after_ms, connection: closed} where it would be one too many
   */
  called(account: number, name: string, isOpen: () => boolean): void {
    const before = this.#counted.get(name)
    if (before?.account === account) return
    if (this.count(account) >= LIMITS.connectionsAccount && !this.#hasRoom(account))
      throw full('this account', LIMITS.connectionsAccount)
    if (before === undefined && this.#counted.size >= LIMITS.connectionsAll && !this.#hasRoom(ALL))
      throw full('the mailbox', LIMITS.connectionsAll)
    if (before !== undefined) this.#forget(name, before.account)
    this.#counted.set(name, { account, isOpen })
    this.#counts.set(account, this.count(account) + 1)
  }

  /** Those of an account that were open when they were looked at last. */
  count(account: number): number {
    return this.#counts.get(account) ?? 0
  }

  /** Forgets those that have ended, of one account or of all. */
  #hasRoom(account: number): boolean {
    const now = performance.now()
    if (now < (this.#full.get(account) ?? 0)) return false
    this.#full.delete(account)
    const before = this.#counted.size
    for (const [name, counted] of this.#counted)
      if ((account === ALL || counted.account === account) && !counted.isOpen()) this.#forget(name, counted.account)
    if (this.#counted.size < before) return true
    this.#full.set(account, now + FULL_MS)
    return false
  }

  #forget(name: string, account: number): void {
    this.#counted.delete(name)
    const left = this.count(account) - 1
    if (left > 0) this.#counts.set(account, left)
    else this.#counts.delete(account)
  }
}

/** The connection of the refused call is closed with the answer, or the refused ones would be the flood. */
const full = (whose: string, limit: number): Refusal =>
  new Refusal('too_many', `${whose} has ${limit} open connections, as many as there may be`, {
    limit,
    retry_after_ms: FULL_MS,
    connection: 'closed',
  })
