// The supervisor: takes what is asked for in order, one at a time for each agent and folder, sees each through to its outcome.
//
// Nothing is started that is not written down first (launch.ts, attempt-files.ts), so a mailbox that died finds what it had
// started and goes on with it before it starts anything (recover.ts). A dispatch is queued → running, attempt after attempt
// (next.ts) → ending, while its dispatcher is told (bounce.ts) → done.
import type { Output, Runs } from '../../engine/dispatch/runs.ts'
import type { Mail } from '../../engine/mail.ts'
import type { DispatchRow } from '../../store/dispatch/rows.ts'
import type { Store } from '../../store/store.ts'
import { ActiveRuns } from './active.ts'
import { attemptFolder, filesOf, readFrom } from './attempt-files.ts'
import { Course } from './course.ts'
import { secretsIn } from './environment.ts'
import { conclude, finish } from './finish.ts'
import { forgetOld } from './forget.ts'
import { folderOf, type Place } from './launch.ts'
import { listen } from './listen.ts'
import { recover } from './recover.ts'
import { redact } from './redact.ts'
import type { Log, Shop } from './shop.ts'

/** Milliseconds until work that failed in our own code is tried again; and that a stop waits for what is under way. */
const RETRY_MS = 1_000
const STOP_MS = 1_000

export class Supervisor implements Runs {
  readonly unavailable = null
  readonly #store: Store
  readonly #active = new ActiveRuns()
  readonly #stopping = new AbortController()
  /** Dispatches at work: what each is at. */
  readonly #working = new Map<number, { agent: number; folder: string; activity: string }>()
  readonly #work = new Set<Promise<void>>()
  /** Where our own work failed: not again before. */
  readonly #notBefore = new Map<number, number>()
  #timer: NodeJS.Timeout | null = null
  #due = Number.POSITIVE_INFINITY
  #closers: (() => void)[] = []

  readonly #shop: Shop
  readonly #course: Course

  constructor(mail: () => Mail, place: Place, log: Log) {
    this.#store = mail().store
    this.#shop = {
      store: this.#store,
      mail,
      place,
      active: this.#active,
      stopping: this.#stopping.signal,
      say: (dispatch, activity) => {
        const working = this.#working.get(dispatch)
        if (working) working.activity = activity
      },
      log,
    }
    this.#course = new Course(this.#shop)
  }

  /** Goes on with what an earlier mailbox had started, then takes what waits. */
  async start(): Promise<void> {
    const { store, place, log } = this.#shop
    forgetOld(store, place.dataDir, Date.now())
    for (const { attempt, root } of await recover(store, place)) {
      const row = store.dispatches.get(attempt.dispatch)
      const cwd = row && store.dispatches.agent(row.agent)?.profile.cwd
      if (row) this.#run(row, () => this.#course.goOn(row, attempt, root), cwd ? folderOf(cwd) : '')
    }
    this.#closers = [store.dispatches.onChange(() => this.look()), listen(store, () => this.look(), log)]
    this.look()
  }

  /** Starts nothing more and leaves what runs alone: the next mailbox goes on with it. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    for (const close of this.#closers) close()
    if (this.#timer) clearTimeout(this.#timer)
    // whoever is just being ended is ended by the next mailbox
    await Promise.race([Promise.all(this.#work), Bun.sleep(STOP_MS)])
  }

  of: Runs['of'] = (caller) => this.#active.of(caller)

  activity(dispatch: number): string | null {
    return this.#working.get(dispatch)?.activity ?? null
  }

  output(dispatch: number, attempt: number, stream: 'out' | 'err', offset: number, limit: number): Output {
    const path = filesOf(attemptFolder(this.#shop.place.dataDir, dispatch, attempt))[stream]
    const { bytes, size } = readFrom(path, offset, limit)
    // whole lines, so that a secret is not cut in two; but for a line that is longer than what was asked for
    const last = bytes.lastIndexOf(10) + 1
    const whole = offset + bytes.length < size && last > 0 ? bytes.subarray(0, last) : bytes
    const end = offset + whole.length
    return { text: redact(whole.toString('utf8'), secretsIn(this.#shop.place.env)), offset: end, more: end < size }
  }

  look(): void {
    this.#lookAt(Date.now())
  }

  #lookAt(at: number): void {
    if (this.#stopping.signal.aborted || (this.#timer && this.#due <= at)) return
    if (this.#timer) clearTimeout(this.#timer)
    this.#due = at
    this.#timer = setTimeout(
      () => {
        this.#timer = null
        this.#due = Number.POSITIVE_INFINITY
        this.#take()
      },
      Math.max(0, at - Date.now()),
    )
  }

  /** Looks through what is open, in order: the first of each agent and folder is its turn. */
  #take(): void {
    const { dispatches } = this.#store
    const agents = new Set([...this.#working.values()].map(({ agent }) => agent))
    const folders = new Set([...this.#working.values()].map(({ folder }) => folder))
    for (const row of dispatches.open()) {
      if (this.#working.has(row.id)) continue
      const wait = this.#notBefore.get(row.id) ?? 0
      if (wait > Date.now()) {
        agents.add(row.agent)
        this.#lookAt(wait)
        continue
      }
      this.#notBefore.delete(row.id)
      const profile = dispatches.agent(row.agent)?.profile
      if (row.state === 'ending') this.#run(row, () => finish(this.#shop, row))
      else if (row.stop !== null || !profile)
        this.#run(row, () => conclude(this.#shop, row, 'stopped', row.stop ?? 'its agent has no profile any more'))
      else if (!agents.has(row.agent)) {
        agents.add(row.agent)
        const folder = folderOf(profile.cwd)
        if (folders.has(folder) || dispatches.pause || dispatches.agent(row.agent)?.paused != null) continue
        if (row.ready > Date.now()) this.#lookAt(row.ready)
        else {
          folders.add(folder)
          this.#run(row, () => this.#course.begin(row, profile), folder)
        }
      }
    }
  }

  /** Works on a dispatch; whatever goes wrong in our own code is written down and tried again, never lost. */
  #run(row: DispatchRow, work: () => Promise<void>, folder = ''): void {
    this.#working.set(row.id, { agent: row.agent, folder, activity: 'starting' })
    const done = work()
      .catch((error) => {
        if (this.#stopping.signal.aborted) return
        this.#shop.log('a dispatch could not go on', {
          dispatch: row.id,
          error: error instanceof Error ? error.message : 'failed',
        })
        this.#notBefore.set(row.id, Date.now() + RETRY_MS)
      })
      .finally(() => {
        this.#working.delete(row.id)
        this.#work.delete(done)
        this.look()
      })
    this.#work.add(done)
  }
}
