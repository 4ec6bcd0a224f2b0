// Desktop notifications: a subscriber of the log for each person, with its cursor and its rate in the store.
import type { DesktopNotifications, DesktopState } from '../../engine/mail.ts'
import type { DispatchRow } from '../../store/dispatch/rows.ts'
import type { AccountRow } from '../../store/rows.ts'
import type { Commit, Store } from '../../store/store.ts'
import type { NewWake } from '../../store/wake/wakes.ts'
import { LIMITS } from '../../wire/limits.ts'
import { Refusal } from '../../wire/refusal.ts'
import type { Desktop } from './desktop.ts'
import { endOf, toldOf } from './dispatch-news.ts'
import { mailSince } from './mail-news.ts'
import { type Ended, type News, type Wake, wordsOf } from './news.ts'
import { operatorsBut, wakeOf } from './wake-news.ts'

export type NotifierOptions = {
  readonly log: (message: string, facts: { account: string; reason: string }) => void
  readonly now?: () => number
  /** Milliseconds from the first letter to the notification: what comes meanwhile is part of it. */
  readonly gatherMs?: number
  /** Milliseconds until one that failed is tried once more. */
  readonly againMs?: number
  /** Milliseconds between two looks at whose cursors are still needed. */
  readonly tidyMs?: number
  /** So many at once, then one in that many milliseconds. */
  readonly rate?: { burst: number; everyMs: number }
}

/** What a start looks back at most, in entries of the log. */
const LOOK_BACK = 10_000
const SUBSCRIBER = 'desktop:'
const STOP_MS = 500
/** Milliseconds: less than any age at which the log is cut, so that no cursor of ours holds that up. */
const TIDY_MS = 10 * 60_000

type Line = {
  /** Up to there all is told. */
  position: number
  /** Dispatches that are not told yet. Only here: after a restart the letter that each of them brings tells of it. */
  ended: Ended[]
  /** Of each agent its newest wake that is not told yet. */
  wakes: Map<string, Wake>
  timer: NodeJS.Timeout | undefined
  running: Promise<void> | null
}

export class Notifier implements DesktopNotifications {
  readonly counts = { shown: 0, failed: 0 }
  readonly #store: Store
  readonly #desktop: Desktop
  readonly #options: Required<NotifierOptions>
  readonly #lines = new Map<number, Line>()
  readonly #stopping = new AbortController()
  #unsubscribe: (() => void)[] = []
  #tidying: NodeJS.Timeout | undefined

  constructor(store: Store, desktop: Desktop, options: NotifierOptions) {
    this.#store = store
    this.#desktop = desktop
    const rate = { burst: 3, everyMs: 20_000 }
    this.#options = { now: Date.now, gatherMs: 1_000, againMs: 5_000, tidyMs: TIDY_MS, rate, ...options }
  }

  /** First what an earlier run has left untold, then whatever is committed. */
  start(): void {
    const { head } = this.#store
    for (const account of this.#store.registry.accounts()) {
      if (!this.#isOn(account)) continue
      const { position } = this.#lineOf(account.id, Math.max(this.#kept(account.id), head - LOOK_BACK, 0))
      if (position < head) this.#soon(account.id, 0)
    }
    this.#unsubscribe = [
      this.#store.onCommit((commits) => this.#hear(commits)),
      this.#store.dispatches.onChange((row) => this.#hearDispatch(row)),
      this.#store.wakes.onLog((row) => this.#hearWake(row)),
    ]
    this.#tidy()
    this.#tidying = setInterval(() => {
      if (this.#store.fault === null) this.#tidy()
    }, this.#options.tidyMs)
  }

  /** What is about to be shown has a moment to end; what waits is told after the next start. */
  async stop(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    clearInterval(this.#tidying)
    this.#stopping.abort()
    for (const [account, { timer, running, position }] of this.#lines) {
      if (timer === undefined && running === null) this.#keep(account, position)
      clearTimeout(timer)
    }
    const running = Promise.all([...this.#lines.values()].map((line) => line.running))
    await Promise.race([running, Bun.sleep(STOP_MS)])
  }

  state(account: AccountRow): DesktopState {
    const { shown, failure, failed } = this.#store.notify.row(account.id)
    const line = this.#lines.get(account.id)
    const waiting = line !== undefined && (line.timer !== undefined || line.running !== null)
    return { on: this.#isOn(account), through: this.#desktop.through, waiting, shown, failure, failedAt: failed }
  }

  async turn(account: AccountRow, on: boolean): Promise<void> {
    const { notify } = this.#store
    await notify.put({ ...notify.row(account.id), enabled: on })
    clearTimeout(this.#lines.get(account.id)?.timer)
    this.#lines.delete(account.id)
    if (!on) return this.#store.setCursor(SUBSCRIBER + account.id, null)
    // what came while they were off is no news any more
    this.#keep(account.id, this.#store.head)
    this.#lineOf(account.id, this.#store.head)
  }

  async test(account: AccountRow): Promise<void> {
    const wait = this.#wait(account.id)
    if (wait > 0) {
      const hint = `try again in ${Math.ceil(wait / 1_000)} s`
      throw new Refusal('rate_limited', 'too many notifications', { retry_after_ms: wait }, hint)
    }
    const failure = await this.#show({ kind: 'test', account: account.name }, account)
    if (failure !== null) throw new Refusal('not_shown', failure)
  }

  #isOn = (account: AccountRow): boolean => this.#store.notify.row(account.id).enabled ?? account.kind === 'person'

  #lineOf(account: number, position: number): Line {
    const line = this.#lines.get(account) ?? { position, ended: [], wakes: new Map(), timer: undefined, running: null }
    this.#lines.set(account, line)
    return line
  }

  /** Called while commits are answered: it only notes who has news. */
  #hear(commits: readonly Commit[]): void {
    for (const commit of commits) {
      if (commit.kind !== 'sent' || commit.hop > LIMITS.hopQuiet) continue
      for (const to of commit.recipients) {
        const account = this.#store.registry.accountById(to.account)
        if (!account || account.id === commit.account || !this.#isOn(account)) continue
        this.#lineOf(account.id, commit.id - 1)
        this.#soon(account.id, this.#options.gatherMs)
      }
    }
    for (const line of this.#lines.values())
      if (line.timer === undefined && line.running === null) line.position = this.#store.head
  }

  #hearDispatch(row: DispatchRow): void {
    const ended = endOf(this.#store, row)
    if (ended === null) return
    for (const account of toldOf(this.#store, row)) {
      if (!this.#isOn(account)) continue
      this.#lineOf(account.id, this.#store.head).ended.push(ended)
      this.#soon(account.id, this.#options.gatherMs)
    }
  }

  #hearWake(row: NewWake): void {
    const wake = wakeOf(this.#store, row)
    if (wake === null) return
    for (const account of operatorsBut(this.#store, wake.agent)) {
      if (!this.#isOn(account)) continue
      this.#lineOf(account.id, this.#store.head).wakes.set(wake.agent, wake)
      this.#soon(account.id, this.#options.gatherMs)
    }
  }

  /**
   * The cursor is the first entry that is not told. An account that has none was never told of anything: the letter whose commit
   * we did not outlive may be its first.
   */
  #keep(account: number, position: number): void {
    this.#store.setCursor(SUBSCRIBER + account, position + 1)
  }

  #kept = (account: number): number => this.#store.cursor(SUBSCRIBER + account) - 1

  /** Whoever is told of nothing, switched off or gone, holds nothing of the log back; and who has no news has passed it. */
  #tidy(): void {
    const store = this.#store
    const accounts = new Map(store.registry.accounts().map((account) => [account.id, account]))
    for (const subscriber of store.subscribers(SUBSCRIBER)) {
      const account = accounts.get(Number(subscriber.slice(SUBSCRIBER.length)))
      const line = account && this.#lines.get(account.id)
      if (!account || !this.#isOn(account)) store.setCursor(subscriber, null)
      else if (line?.timer === undefined && line?.running === null) this.#keep(account.id, store.head)
    }
  }

  #soon(account: number, ms: number): void {
    const line = this.#lines.get(account)
    if (line === undefined || line.timer !== undefined || this.#stopping.signal.aborted) return
    line.timer = setTimeout(() => {
      line.timer = undefined
      if (line.running !== null) return this.#soon(account, this.#options.gatherMs)
      line.running = this.#tell(account, line)
        .catch((error) => this.#complain(account, error instanceof Error ? error.message : 'failed'))
        .finally(() => {
          line.running = null
        })
    }, ms)
  }

  async #tell(id: number, line: Line): Promise<void> {
    const account = this.#store.registry.accountById(id)
    if (account === undefined || !this.#isOn(account)) return void this.#lines.delete(id)
    const wait = this.#wait(id)
    if (wait > 0) return this.#soon(id, wait)
    const upTo = this.#store.head
    const senders = mailSince(this.#store, account, line.position, upTo)
    if (senders.size > 0 && !(await this.#try({ kind: 'mail', account: account.name, senders }, account))) return
    if (this.#lines.get(id) !== line) return
    line.position = upTo
    this.#keep(id, upTo)
    while (line.ended.length > 0 || line.wakes.size > 0) {
      const rest = this.#wait(id)
      if (rest > 0) return this.#soon(id, rest)
      if (!(await this.#try(nextOf(line, account.name), account))) return
    }
  }

  /** Shows it, and once more a while later when that failed. False: the mailbox stops in between. */
  async #try(news: News, account: AccountRow): Promise<boolean> {
    if ((await this.#show(news, account)) === null) return true
    await this.#pause(this.#options.againMs)
    if (this.#stopping.signal.aborted) return false
    await this.#show(news, account)
    return true
  }

  /** Milliseconds until the rate allows the next: the generic cell rate algorithm, ITU-T I.371. */
  #wait(account: number): number {
    const { burst, everyMs } = this.#options.rate
    return Math.max(0, this.#store.notify.row(account).due - (burst - 1) * everyMs - this.#options.now())
  }

  /** Shows it and keeps how that went. Resolves to why it was not shown, or null. */
  async #show(news: News, account: AccountRow): Promise<string | null> {
    const { notify } = this.#store
    const failure = await this.#desktop.show(wordsOf(news), `${news.kind}-${account.id}`).then(
      () => null,
      (error) => oneLine(error instanceof Error ? error.message : 'unknown reason'),
    )
    const now = this.#options.now()
    const before = notify.row(account.id)
    const due = Math.max(before.due, now) + this.#options.rate.everyMs
    if (failure === null) {
      this.counts.shown++
      await notify.put({ ...before, due, shown: now, failure: null, failed: null })
    } else {
      this.counts.failed++
      if (failure !== before.failure) this.#complain(account.id, failure)
      await notify.put({ ...before, due, failure, failed: now })
    }
    return failure
  }

  #complain(account: number, reason: string): void {
    const name = this.#store.registry.accountById(account)?.name ?? String(account)
    this.#options.log('a notification was not shown', { account: name, reason })
  }

  #pause(ms: number): Promise<void> {
    const { signal } = this.#stopping
    return new Promise((done) => {
      const timer = setTimeout(done, ms)
      signal.addEventListener('abort', () => done(clearTimeout(timer)), { once: true })
    })
  }
}

/** Takes what is to be told next from it. */
function nextOf(line: Line, account: string): News {
  if (line.ended.length > 0) return { kind: 'dispatch', account, ended: line.ended.splice(0) }
  const wakes = [...line.wakes.values()]
  line.wakes.clear()
  return { kind: 'wake', account, wakes }
}

/** What a program of the system complains of, fit for a log and a terminal. */
const oneLine = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, 200)
