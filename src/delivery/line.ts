// One listener's line: its bells are rung one after another, repeated while the mail is unseen, and its health is kept.
import type { BellHealth } from '../engine/mail.ts'
import type { ListenerRow } from '../store/rows.ts'
import type { Store } from '../store/store.ts'
import { Refusal } from '../wire/refusal.ts'
import { doorbell, unopenedIn } from './doorbell.ts'
import { type Patience, type Rung, ring } from './ring.ts'
import { type Bell, inherit, Schedule } from './schedule.ts'
import { targetOf } from './target.ts'

/** What all lines share. */
export type Exchange = {
  readonly store: Store
  readonly ownPort: () => number
  readonly now: () => number
  readonly delays: readonly number[]
  readonly patience: Patience
  readonly signal: AbortSignal
}

const NOTHING = { lastOk: null, lastError: null, lastErrorAt: null }
/** Unopened letters that are looked through when a line picks up what it has no bell for. */
const LOOK_BACK = 10_000

export class Line {
  readonly #schedule = new Schedule()
  #health: Omit<BellHealth, 'pending'> = NOTHING
  /** The listener that the health is about. */
  #key: string | null = null
  #overflow = false
  #seen: number[] = []
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | null = null

  constructor(
    readonly account: number,
    readonly exchange: Exchange,
  ) {}

  /** New mail in `box`. */
  add(id: number, box: number): void {
    const known = this.#schedule.get(id)
    if (known) return void known.boxes.push(box)
    if (!this.#schedule.add({ id, boxes: [box], rings: 0, due: this.exchange.now(), rung: false }))
      this.#overflow = true
    this.#soon(0)
  }

  /** Bells for the unopened mail of the account that has none: at the start, and after an overflow. */
  catchUp(): void {
    const { store, now, delays } = this.exchange
    const account = store.registry.accountById(this.account)
    if (!account) return
    for (const row of store.unopened(account, LOOK_BACK)) {
      const known = this.#schedule.get(row.id)
      const told = row.notified !== null
      const due = now() + (told ? (delays[0] ?? 0) : 0)
      const bell = { id: row.id, boxes: [row.box], rings: told ? 1 : 0, due, rung: told }
      if (known && !known.boxes.includes(row.box)) known.boxes.push(row.box)
      if (!known && !this.#schedule.add(bell) && !told) this.#overflow = true
    }
    this.#soon(0)
  }

  /** Somebody opened or closed message `id`. Looked at later: this is called while a commit is being answered. */
  seen(id: number): void {
    if (!this.#schedule.get(id)) return
    this.#seen.push(id)
    this.#soon(0)
  }

  /** Message `id` was superseded; where it had not been opened, its bell goes on for `heir` instead of a ring of its own. */
  supersede(id: number, heir: number | null): void {
    const bell = this.#schedule.get(id)
    const next = heir === null ? undefined : this.#schedule.get(heir)
    if (bell && next) inherit(next, bell)
    this.#schedule.delete(id)
  }

  health(): BellHealth {
    const listener = this.exchange.store.registry.listener(this.account)
    const pending = listener ? this.#schedule.pending(listener.coalesce) : 0
    return { pending, ...(listener?.key === this.#key ? this.#health : NOTHING) }
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#running
  }

  #drop(bell: Bell): void {
    this.#schedule.delete(bell.id)
    if (bell.rings === 0 || !this.exchange.store.registry.listener(this.account)?.coalesce) return
    const heir = this.#schedule.next(true)
    if (heir?.rings === 0) inherit(heir, bell)
  }

  /** Runs later: a ring never delays the answer to the send that it is about. */
  #soon(ms: number): void {
    clearTimeout(this.#timer)
    if (this.exchange.signal.aborted) return
    this.#timer = setTimeout(() => {
      this.#running ??= this.#run().finally(() => {
        this.#running = null
      })
    }, ms)
  }

  async #run(): Promise<void> {
    try {
      await this.#ringAll()
      this.#sleep()
    } catch (error) {
      // the store could not be read: nothing is lost by trying again later
      this.#failed(error instanceof Error ? error.message : 'failed')
      this.#soon(this.exchange.delays[0] ?? 0)
    }
  }

  #sleep(): void {
    const { store, now } = this.exchange
    const next = this.#schedule.next(store.registry.listener(this.account)?.coalesce ?? false)
    if (this.#seen.length > 0) this.#soon(0)
    else if (next) this.#soon(Math.max(0, next.due - now()))
  }

  /** Rings what is due. */
  async #ringAll(): Promise<void> {
    const { store, now, signal } = this.exchange
    while (!signal.aborted) {
      const listener = store.registry.listener(this.account)
      if (!listener) return this.#schedule.clear()
      this.#forgetSeen()
      const bell = this.#schedule.next(listener.coalesce)
      if (this.#overflow && bell?.rings !== 0 && !this.#schedule.full) {
        this.#overflow = false
        this.catchUp()
      } else if (bell && bell.due <= now()) await this.#ring(bell, listener)
      else return
    }
  }

  /** The bell of what was seen goes, unless the account has another copy that nobody has seen. */
  #forgetSeen(): void {
    for (const id of this.#seen.splice(0)) {
      const bell = this.#schedule.get(id)
      if (bell && unopenedIn(this.exchange.store, id, bell.boxes) === null) this.#drop(bell)
    }
  }

  async #ring(bell: Bell, listener: ListenerRow): Promise<void> {
    const { store, now, delays } = this.exchange
    const account = store.registry.accountById(this.account)
    const said = account ? doorbell(store, account, bell.id, bell.boxes) : null
    if (!said) return this.#drop(bell)
    // counted before it is tried: a message that takes over meanwhile must not ring a second time
    bell.rings++
    bell.due = now() + (delays[Math.min(bell.rings, delays.length) - 1] ?? 0)
    const rung = await this.#dial(listener, said.body)
    if (this.exchange.signal.aborted) return
    bell.rung = rung.ok
    if (this.#key !== listener.key) this.#health = NOTHING
    this.#key = listener.key
    if (!rung.ok) return this.#failed(rung.error)
    this.#health = { ...this.#health, lastOk: now() }
    store.notified(said.box, [bell.id])
  }

  #failed(error: string): void {
    this.#health = { ...this.#health, lastError: error, lastErrorAt: this.exchange.now() }
  }

  async #dial(listener: ListenerRow, body: string): Promise<Rung> {
    const { ownPort, patience, signal } = this.exchange
    try {
      return await ring(targetOf(listener.url, ownPort()), listener.key, body, patience, signal)
    } catch (error) {
      if (error instanceof Refusal) return { ok: false, error: error.message }
      throw error
    }
  }
}
