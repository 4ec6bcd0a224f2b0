// The subscriber of the event log that wakes agents: gathers a burst, waits a moment whether somebody takes it, then wakes once.
import type { Mail } from '../engine/mail.ts'
import { wakePolicy } from '../engine/wake/policy.ts'
import type { AccountRow, MessageRow, SessionRow } from '../store/rows.ts'
import type { Commit } from '../store/store.ts'
import type { WakeAdapter } from './adapter.ts'
import type { Result } from './chain.ts'
import { missedNews, newsOf, numberOf } from './news.ts'
import { isTaken, wakeOnce } from './once.ts'
import { dueIds, eventsSince, isSpokenFor, ownerOf, sift } from './sift.ts'
import type { Targets } from './targets.ts'
import { WAKE_TIMES, type WakeTimes } from './times.ts'
import type { Turns } from './turns.ts'
import { Watch } from './watch.ts'

const RETRY_MOST = 600_000
const CURSOR = 'wake'

export type WatcherOptions = Targets & {
  readonly adapters: readonly WakeAdapter[]
  readonly turns: Turns
  readonly times?: WakeTimes
  readonly log?: (what: string, facts: Record<string, string | number | null>) => void
}

export class Watcher {
  readonly #options: WatcherOptions
  readonly #mail: Mail
  readonly #times: WakeTimes
  readonly #watches = new Map<number, Watch>()
  /** Letters that a wake speaks for → its mailbox. */
  readonly #spoken = new Map<number, Watch>()
  readonly #stop = new AbortController()
  readonly #known = new Set<number>()
  readonly #running = new Set<Promise<void>>()
  #unsubscribe: () => void = () => {}
  #tick: Timer | undefined
  #seen: number
  #cursor: number

  constructor(options: WatcherOptions) {
    this.#options = options
    this.#mail = options.mail
    this.#times = options.times ?? WAKE_TIMES
    this.#cursor = this.#seen = this.#mail.store.cursor(CURSOR)
  }

  /** Takes up what came while nobody watched, and goes on with each commit. */
  start(): void {
    const { store } = this.#mail
    const { startSettle } = this.#times
    for (const session of store.registry.liveSessions()) this.#known.add(session.id)
    for (const due of store.wakes.dues()) {
      const owner = this.#ownerOf(due.box)
      if (owner) this.#watch(due.box, owner.id).due = due
      else void store.wakes.notDue(due.box).catch(() => {})
    }
    this.#unsubscribe = store.onCommit((commits) => this.#hear(commits))
    for (const { id, kind } of eventsSince(store, this.#seen)) {
      if (kind === 'sent') for (const { box, account } of missedNews(store, id)) this.#watch(box, account).add(id)
      this.#seen = Math.max(this.#seen, id)
    }
    for (const watch of this.#watches.values()) this.#schedule(watch, startSettle)
    this.#tick = setInterval(() => this.#look(), this.#times.look)
  }

  /** Letters that were to wake somebody in that mailbox and have not yet. */
  due(box: number): number {
    const watch = this.#watches.get(box)
    const owner = this.#ownerOf(box)
    if (!watch?.due || !owner) return 0
    const { first, refused } = watch.due
    return dueIds(this.#mail, owner, box, first).filter((id) => !refused.includes(id)).length
  }

  /** A door of the session is there now. */
  came(account: AccountRow, session: SessionRow): void {
    this.#known.add(session.id)
    for (const box of [account.box, session.box]) {
      const watch = this.#watches.get(box)
      if (watch?.due) this.#schedule(watch, this.#times.settle)
    }
  }

  async stop(): Promise<void> {
    this.#unsubscribe()
    clearInterval(this.#tick)
    this.#stop.abort()
    for (const watch of this.#watches.values()) clearTimeout(watch.timer ?? undefined)
    await Promise.allSettled(this.#running)
  }

  #hear(commits: readonly Commit[]): void {
    const waits = (box: number) => Boolean(this.#watches.get(box)?.first)
    for (const commit of commits) {
      this.#seen = Math.max(this.#seen, numberOf(commit))
      for (const news of newsOf(this.#mail.store, commit, waits)) {
        if (news.kind === 'read') this.#read(news.id)
        else this.#came(news.box, news.account, news.id)
      }
    }
  }

  #came(box: number, account: number, id: number): void {
    const watch = this.#watch(box, account)
    // what is due counts from its first letter on; with nobody there, a look at it for each further one is work for nothing
    if (watch.due && this.#mail.now() < watch.retryAt && !this.#mail.store.registry.someLive(account, () => true))
      return
    watch.add(id)
    // where nobody was to be had a moment ago nothing is lost by looking less often
    const { settle } = this.#times
    if (!watch.running && watch.timer === null) this.#schedule(watch, watch.due === null ? settle : 4 * settle)
  }

  /** Somebody has opened or closed it: the wake that spoke for it has done its work. */
  #read(id: number): void {
    const watch = this.#spoken.get(id)
    if (watch?.outstanding) this.#answered(watch)
  }

  #answered(watch: Watch): void {
    for (const id of watch.outstanding?.ids ?? []) this.#spoken.delete(id)
    watch.outstanding = null
    if (watch.waiting.length > 0) this.#schedule(watch, this.#times.settle)
    else this.#rest(watch)
  }

  #watch(box: number, account: number): Watch {
    const known = this.#watches.get(box)
    if (known) return known
    const watch = new Watch(box, account)
    this.#watches.set(box, watch)
    return watch
  }

  #ownerOf(box: number): AccountRow | null {
    return ownerOf(this.#mail.store, box, this.#watches.get(box)?.account)
  }

  #schedule(watch: Watch, ms: number): void {
    if (this.#stop.signal.aborted || watch.running) return
    clearTimeout(watch.timer ?? undefined)
    watch.timer = setTimeout(() => {
      watch.timer = null
      const run = this.#fire(watch)
        .catch(() => this.#options.log?.('a wake failed', { box: watch.box }))
        .finally(() => this.#running.delete(run))
      this.#running.add(run)
    }, ms)
  }

  /** One look at a mailbox: at most one wake. */
  async #fire(watch: Watch): Promise<void> {
    const { store } = this.#mail
    const account = this.#ownerOf(watch.box)
    if (!account) {
      this.#watches.delete(watch.box)
      return
    }
    if (watch.outstanding && !this.#isOver(watch, account)) return
    const session = watch.box === account.box ? null : (store.registry.sessionByBox(watch.box) ?? null)
    if (watch.box !== account.box && session === null) return this.#rest(watch)
    watch.running = true
    const waited = watch.waiting
    watch.waiting = []
    const owed = watch.due ? dueIds(this.#mail, account, watch.box, watch.due.first) : []
    const ids = [...new Set([...owed, ...waited])].filter((id) => !watch.due?.refused.includes(id))
    let again: number | null = null
    try {
      const policy = wakePolicy(store, account, session)
      const { wanted, refused } = sift(this.#mail, account, session, ids, policy, (one) => this.#seenBy(one))
      const due = watch.refuse(refused)
      if (due) await store.wakes.setDue(due)
      if (wanted.length > 0) {
        const result = await wakeOnce(this.#options, account, session, wanted, this.#stop.signal)
        if (result.busy) {
          watch.waiting = [...new Set([...waited, ...watch.waiting])]
          again = this.#times.look
        } else await this.#finish(watch, account, session, wanted, result)
      } else if (watch.due && owed.length === 0) await this.#settle(watch)
    } finally {
      watch.running = false
    }
    if (watch.waiting.length > 0) this.#schedule(watch, again ?? (watch.due ? 4 : 1) * this.#times.settle)
    else this.#rest(watch)
    this.#advance()
  }

  /** Writes down what became of it, and what follows: it is spoken for, or it is due. */
  async #finish(
    watch: Watch,
    account: AccountRow,
    session: SessionRow | null,
    wanted: readonly MessageRow[],
    result: Result,
  ): Promise<void> {
    const { store, now } = this.#mail
    const ids = wanted.map(({ id }) => id)
    const newest = Math.max(...ids)
    const taken = isTaken(result.outcome)
    // cut short by the end of the mailbox: the next one looks at it again
    if (this.#stop.signal.aborted && !taken) return
    const said = `${result.outcome} ${result.tried.map(({ door, detail }) => `${door}: ${detail}`).join('; ')}`
    if (taken || said !== watch.last) {
      await store.wakes.addLog({
        box: watch.box,
        message: newest,
        count: ids.length,
        outcome: result.outcome,
        door: result.door,
        at: now(),
        ms: result.ms,
        tried: result.tried,
      })
      this.#options.log?.('wake', { account: account.name, outcome: result.outcome, door: result.door, ms: result.ms })
    }
    watch.last = said
    if (!taken) {
      const before = watch.due
      const due = watch.owe(Math.min(...ids))
      if (due.first !== before?.first) await store.wakes.setDue(due)
      watch.backOff = Math.min(RETRY_MOST, watch.backOff === 0 ? this.#times.retry : watch.backOff * 2)
      watch.retryAt = now() + watch.backOff
      return
    }
    store.notified(watch.box, ids)
    await this.#settle(watch)
    const woken = result.target ? store.sessionById(result.target.row) : session
    if (woken) {
      this.#options.turns.woken(woken, Math.max(...wanted.map(({ hop }) => hop)))
      store.touchSession(woken)
    }
    watch.outstanding = { ids, until: now() + this.#times.cover }
    for (const id of ids) this.#spoken.set(id, watch)
  }

  /** Nothing is due in it any more. */
  async #settle(watch: Watch): Promise<void> {
    watch.backOff = 0
    if (watch.due === null) return
    watch.due = null
    await this.#mail.store.wakes.notDue(watch.box)
  }

  /** What a wake speaks for has been read, or it has spoken for long enough. */
  #isOver(watch: Watch, account: AccountRow): boolean {
    const spoken = watch.outstanding
    if (!spoken) return true
    if (this.#mail.now() < spoken.until && isSpokenFor(this.#mail, account, watch.box, spoken.ids)) return false
    for (const id of spoken.ids) this.#spoken.delete(id)
    watch.outstanding = null
    return true
  }

  #seenBy(session: SessionRow): number {
    return Math.max(session.given, this.#options.turns.told(session))
  }

  /** Now and then: has an agent come, is a wake over, is it time to try again? */
  #look(): void {
    const { store, now } = this.#mail
    const live = new Set<number>()
    for (const session of store.registry.liveSessions()) {
      live.add(session.id)
      if (this.#known.has(session.id)) continue
      this.#known.add(session.id)
      const account = store.registry.accountById(session.account)
      if (account) this.came(account, session)
    }
    for (const id of this.#known) if (!live.has(id)) this.#known.delete(id)
    this.#options.turns.prune((id) => !live.has(id))
    for (const watch of this.#watches.values()) {
      if (watch.running || watch.timer !== null) continue
      const account = this.#ownerOf(watch.box)
      if (watch.outstanding && (account === null || this.#isOver(watch, account))) this.#answered(watch)
      else if (watch.due && account && now() >= watch.retryAt && store.registry.someLive(account.id, this.#mail.alive))
        this.#schedule(watch, 0)
    }
    this.#advance()
  }

  #rest(watch: Watch): void {
    if (watch.idle && watch.timer === null) this.#watches.delete(watch.box)
  }

  /** The cursor stands before the oldest letter that has not been looked at. */
  #advance(): void {
    let to = this.#seen
    for (const watch of this.#watches.values()) {
      if (watch.running) return
      if (watch.first !== null) to = Math.min(to, watch.first - 1)
    }
    if (to <= this.#cursor) return
    this.#cursor = to
    this.#mail.store.setCursor(CURSOR, to)
  }
}
