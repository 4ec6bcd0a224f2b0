// The part that wakes agents: the watcher, the doors that stand by, the chain of adapters; what operations ask of it.
import type { Caller, Mail } from '../engine/mail.ts'
import { wakePolicy } from '../engine/wake/policy.ts'
import type { HookMoment, WakePort, WakeTest } from '../engine/wake/port.ts'
import type { AccountRow, SessionRow } from '../store/rows.ts'
import type { OperationName } from '../wire/operations.ts'
import { rfc3339OrNull } from '../wire/time.ts'
import type { KeptKey, PlannedDoor, StandByAnswer, StandByRequest } from '../wire/wake.ts'
import { adaptersOf, type Surroundings } from './adapters/all.ts'
import { type Link, linksOf, planOf, wakeThrough } from './chain.ts'
import { Hosted } from './hosted.ts'
import { testLetter } from './letter.ts'
import { type KeyPlace, keptKeys } from './secrets.ts'
import { Standing } from './standing.ts'
import { type Targets, targetsOf } from './targets.ts'
import type { WakeTimes } from './times.ts'
import { Turns } from './turns.ts'
import { Watcher, type WatcherOptions } from './watcher.ts'

export type WakerOptions = Targets &
  Pick<Surroundings, 'dataDir' | 'secrets'> & {
    readonly times?: WakeTimes
    readonly log?: WatcherOptions['log']
    /** Nobody is woken, whatever the policies say. */
    readonly silent?: boolean
  }

const NOBODY: ReadonlySet<number> = new Set()

export class Waker implements WakePort {
  readonly #targets: Targets
  readonly #turns: Turns
  readonly #standing: Standing
  readonly #watcher: Watcher
  readonly #hosted: Hosted
  readonly #adapters
  readonly #keys: KeyPlace
  readonly #mail: Mail
  readonly silent: boolean
  readonly #stop = new AbortController()

  constructor({ mail, attestor, env, dataDir, secrets, times, log, silent = false }: WakerOptions) {
    this.#mail = mail
    this.silent = silent
    this.#targets = { mail, attestor, env }
    this.#turns = new Turns(mail.now)
    this.#standing = new Standing(mail.now, ({ account, session }) => this.#watcher.came(account, session))
    this.#hosted = new Hosted(mail, env, (what, facts) => log?.(what, facts), secrets)
    this.#keys = { dataDir, secrets }
    this.#adapters = adaptersOf({
      dataDir,
      secrets,
      env,
      now: mail.now,
      turns: this.#turns,
      standing: this.#standing,
      lastCall: (name) => this.#lastCall(name),
      routine: (name) => this.#hosted.routine(name),
    })
    this.#watcher = new Watcher({
      ...this.#targets,
      adapters: silent ? [] : this.#adapters,
      turns: this.#turns,
      ...(times ? { times } : {}),
      ...(log ? { log } : {}),
    })
  }

  get doors(): string[] {
    return this.#adapters.map(({ id }) => id)
  }

  start(): void {
    this.#watcher.start()
    this.#hosted.start()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    this.#standing.stop()
    this.#hosted.stop()
    await this.#watcher.stop()
  }

  standBy(caller: Caller, request: StandByRequest, ms: number, signal: AbortSignal): Promise<StandByAnswer> {
    if (this.#stop.signal.aborted) return Promise.resolve({ wake: null, taken: false })
    return this.#standing.wait(caller, request, ms, signal)
  }

  heard(session: SessionRow, operation: OperationName): void {
    if (operation !== 'stand_by' && operation !== 'notice') this.#turns.heard(session)
  }

  hooked = (session: SessionRow, moment: HookMoment, told: number): void => this.#turns.hooked(session, moment, told)
  hop = (session: SessionRow): number | null => this.#turns.hop(session)
  due = (box: number): number => this.#watcher.due(box)

  keys = (account: string): KeptKey[] =>
    keptKeys(this.#keys, account).map((one) => ({ ...one, at: rfc3339OrNull(one.at) }))

  plan(account: AccountRow, session: SessionRow | null): Promise<PlannedDoor[]> {
    return planOf(this.#links(account, session))
  }

  async test(account: AccountRow, session: SessionRow | null): Promise<WakeTest> {
    const letter = testLetter(account, session)
    const { outcome, door, ms, tried } = await wakeThrough(
      this.#links(account, session),
      letter,
      false,
      this.#stop.signal,
    )
    return { outcome, door, ms, tried }
  }

  #lastCall(name: string): number {
    const { registry } = this.#mail.store
    const account = registry.account(name)
    const live = account ? registry.sessionsOf(account.id, Number.MAX_SAFE_INTEGER) : []
    return Math.max(0, ...live.map(({ lastSeen }) => lastSeen))
  }

  #links(account: AccountRow, session: SessionRow | null): Link[] {
    const policy = wakePolicy(this.#mail.store, account, session)
    const links = linksOf(this.#adapters, targetsOf(this.#targets, account, session, NOBODY), policy)
    const left = this.silent ? 'M4A_WAKE silences this mailbox' : null
    return left === null ? links : links.map((link) => ({ ...link, left }))
  }
}
