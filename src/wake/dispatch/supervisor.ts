// The supervisor: takes what is asked for in order, one at a time for each agent and folder, sees each through to its outcome.
//
// Nothing is started that is not written down first (launch.ts, attempt-files.ts), so a mailbox that died finds what it had
// started and goes on with it before it starts anything (recover.ts). A dispatch is queued → running, attempt after attempt
// (next.ts) → ending, while its dispatcher is told (bounce.ts) → done.
import { randomBytes } from 'node:crypto'
import type { Attestor } from '../../attest/attestor.ts'
import { digestOf, newSecret } from '../../engine/admin/secret.ts'
import { admit } from '../../engine/dispatch/admit.ts'
import type { Output, Runs } from '../../engine/dispatch/runs.ts'
import type { Mail } from '../../engine/mail.ts'
import type { AttemptRow, Cause, DispatchRow, NewDispatch, Outcome, Profile } from '../../store/dispatch/rows.ts'
import type { Store } from '../../store/store.ts'
import { messageId } from '../../wire/names.ts'
import { Refusal } from '../../wire/refusal.ts'
import { ActiveRuns } from './active.ts'
import { attemptFolder, filesOf, readClaim, readFrom, tailOf } from './attempt-files.ts'
import { bounceText } from './bounce.ts'
import { classify } from './classify.ts'
import { secretsIn } from './environment.ts'
import { Family } from './family.ts'
import { folderOf, mintedSession, type Place, prepare, setupFault, startAttendant } from './launch.ts'
import { listen } from './listen.ts'
import { nextAfter, planOf } from './next.ts'
import { Postmaster, recipientOf } from './postmaster.ts'
import { bootId, runs } from './proc.ts'
import { promptFor } from './prompt.ts'
import { providerNamed } from './providers/all.ts'
import type { Provider } from './providers/provider.ts'
import { recover, recoverOne } from './recover.ts'
import { redact } from './redact.ts'
import { belowSystemd } from './scope.ts'
import { settledBy } from './settled.ts'
import { type Seen, watch } from './watch.ts'

export type Log = (message: string, facts: Record<string, string | number>) => void

const LOST_CLAIM_MS = 30_000
const CLAIM_TICK_MS = 20
const RETRY_MS = 1_000
const STOP_MS = 1_000
const TAIL_LINES = 20
const TAIL_BYTES = 4_096

export class Supervisor implements Runs {
  readonly unavailable = null
  readonly #store: Store
  readonly #postmaster: Postmaster
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

  constructor(
    readonly mail: () => Mail,
    readonly attestor: Attestor,
    readonly place: Place,
    readonly log: Log,
  ) {
    this.#store = mail().store
    this.#postmaster = new Postmaster(this.#store, attestor)
  }

  /** Goes on with what an earlier mailbox had started, then takes what waits. */
  async start(): Promise<void> {
    for (const { attempt, root } of await recover(this.#store, this.place)) {
      const row = this.#store.dispatches.get(attempt.dispatch)
      if (row) this.#run(row, () => this.#goOn(row, attempt, root))
    }
    this.#closers = [
      this.#store.dispatches.onChange(() => this.look()),
      listen(this.#store, this.#postmaster, () => this.look(), this.log),
    ]
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
    const path = filesOf(attemptFolder(this.place.dataDir, dispatch, attempt))[stream]
    const { bytes, size } = readFrom(path, offset, limit)
    // whole lines, so that a secret is not cut in two; but for a line that is longer than what was asked for
    const last = bytes.lastIndexOf(10) + 1
    const whole = offset + bytes.length < size && last > 0 ? bytes.subarray(0, last) : bytes
    const end = offset + whole.length
    return { text: redact(whole.toString('utf8'), secretsIn(this.place.env)), offset: end, more: end < size }
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
      if (row.state === 'ending') this.#run(row, () => this.#finish(row))
      else if (row.stop !== null || !profile)
        this.#run(row, () => this.#conclude(row, 'stopped', row.stop ?? 'its agent has no profile any more'))
      else if (!agents.has(row.agent)) {
        agents.add(row.agent)
        const folder = folderOf(profile.cwd)
        if (folders.has(folder) || dispatches.pause || dispatches.agent(row.agent)?.paused != null) continue
        if (row.ready > Date.now()) this.#lookAt(row.ready)
        else {
          folders.add(folder)
          this.#run(row, () => this.#begin(row, profile), folder)
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
        this.log('a dispatch could not go on', {
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

  /** The next attempt of a dispatch. */
  async #begin(row: DispatchRow, profile: Profile): Promise<void> {
    const { dispatches } = this.#store
    const settled = settledBy(this.#store, row)
    const before = dispatches.attempts(row.id)
    const open = before.find(({ ended }) => ended === null)
    if (open) return this.#recovered(row, open)
    if (settled.how === 'replied' || settled.how === 'closed') return this.#conclude(row, settled.how, null)
    if (row.started !== null && Date.now() - row.started > profile.totalSecs * 1000)
      return this.#conclude(row, 'timed_out', `longer than ${profile.totalSecs} s in all`)
    const provider = providerNamed(profile.provider)
    if (!provider) return this.#conclude(row, 'failed', `there is no provider ${profile.provider}`)
    const folder = folderOf(profile.cwd)
    const plan = planOf(before, this.#pointer(row, folder, provider), row.fresh)
    const secret = newSecret()
    const attempt = await dispatches.plan(
      {
        dispatch: row.id,
        number: before.length + 1,
        run: randomBytes(8).toString('hex'),
        digest: digestOf(secret),
        provider: provider.name,
        mode: plan.mode,
        session: plan.session ?? mintedSession(provider),
      },
      row.agent,
      folder,
    )
    if (!attempt) return void this.#notBefore.set(row.id, Date.now() + RETRY_MS)
    const fault = setupFault({ profile, provider }, this.place)
    if (fault !== null) return this.#over(row, attempt, profile, 'misconfigured', fault)
    const message = row.thread === null ? null : this.#store.message(row.thread)
    const prepared = prepare(
      {
        row,
        attempt,
        profile,
        provider,
        account: this.#store.registry.accountById(row.agent)?.name ?? '',
        thread: message ? messageId(message.id, message.random) : null,
        secret,
        prompt: promptFor(this.#store, row, profile, before),
      },
      this.place,
    )
    const root = await this.#attended(prepared, attempt)
    if (this.#stopping.signal.aborted) return
    if (root) await this.#goOn(row, attempt, root)
    else await this.#recovered(row, attempt)
  }

  /** An attempt of which nobody knows whether it runs. */
  async #recovered(row: DispatchRow, attempt: AttemptRow): Promise<void> {
    const found = await recoverOne(this.#store, this.place, attempt)
    if (found) await this.#goOn(row, attempt, found.root)
  }

  /** Where the agent left off in that folder, unless some process of it holds that session right now: a client would fork it. */
  #pointer(row: DispatchRow, folder: string, provider: Provider): string | null {
    const session = this.#store.dispatches.pointer(row.agent, folder, provider.name)
    if (session === null) return null
    const holds = this.#store.registry
      .liveSessions()
      .some((one) => one.corroborated.provider_session_id === session && runs(one.instance))
    return holds ? null : session
  }

  /** Starts the attendant and waits for its claim. Null: it ended without one. */
  async #attended(folder: string, { run }: AttemptRow): Promise<{ pid: number; start: string } | null> {
    for (const scoped of belowSystemd(this.place.env) ? [true, false] : [false]) {
      let gone = false
      void startAttendant(folder, run, this.place, scoped).gone.then(() => {
        gone = true
      })
      for (const end = performance.now() + LOST_CLAIM_MS; performance.now() < end; await Bun.sleep(CLAIM_TICK_MS)) {
        // asked first: who claims and ends at once has claimed
        const wasGone = gone
        const claim = readClaim(folder)
        if (claim) return claim
        if (wasGone || this.#stopping.signal.aborted) break
      }
    }
    return null
  }

  /** Watches an attempt that runs, ours or an earlier mailbox's. */
  async #goOn(row: DispatchRow, planned: AttemptRow, root: { pid: number; start: string }): Promise<void> {
    const { dispatches } = this.#store
    const profile = dispatches.agent(row.agent)?.profile
    const provider = providerNamed(planned.provider)
    const family = new Family(planned.run, root)
    if (!profile || !provider) {
      await family.end()
      return this.#conclude(row, 'stopped', 'its agent has no profile any more')
    }
    const working = this.#working.get(row.id)
    if (working) working.folder = folderOf(profile.cwd)
    let attempt = planned
    if (attempt.spawned === null) {
      const started = { pid: root.pid, start: root.start, boot: bootId(), spawned: Date.now() }
      await dispatches.changeAttempt(attempt, started)
      attempt = { ...attempt, ...started }
    }
    const hop = row.message === null ? 0 : (this.#store.message(row.message)?.hop ?? 0)
    this.#active.add({ run: attempt.run, root, dispatch: row.id, depth: row.depth, hop })
    const since = attempt.spawned ?? 0
    const seen = await watch({
      attempt,
      profile,
      provider,
      folder: attemptFolder(this.place.dataDir, row.id, attempt.number),
      family,
      signal: this.#stopping.signal,
      row: () => dispatches.get(row.id),
      contacted: () => this.#contacted(row.agent, since, family),
      say: (activity) => {
        const now = this.#working.get(row.id)
        if (now) now.activity = activity
      },
      healthy: () => void dispatches.changeAttempt(attempt, { healthy: Date.now() }).catch(() => {}),
    })
    this.#active.delete(attempt.run)
    if (seen) await this.#seen(row, attempt, profile, seen)
  }

  #contacted(account: number, since: number, family: Family): boolean {
    return this.#store.registry.someLive(account, (session) => {
      if (session.lastSeen < since) return false
      return family.look().some(({ pid, start }) => pid === session.instance.pid && start === session.instance.start)
    })
  }

  /** An attempt and its processes have ended: what it came to, and what follows. */
  async #seen(row: DispatchRow, attempt: AttemptRow, profile: Profile, seen: Seen): Promise<void> {
    const { exit, ended, transcript, errors, leftover, forced } = seen
    const { progress } = transcript
    const settled = settledBy(this.#store, row)
    const { cause, detail } = classify({ ended, exit, progress, errors, leftover, settled: settled.how })
    const secrets = secretsIn(this.place.env)
    const session = progress.session ?? attempt.session
    await this.#over(row, { ...attempt, session }, profile, cause, detail && redact(detail, secrets), {
      exit: exit?.code ?? null,
      signal: exit?.signal ?? null,
      forced,
      leftover,
      cost: progress.cost,
      turns: progress.turns,
      tokens: progress.tokens,
      tail: redact(this.#tail(row.id, attempt.number), secrets),
    })
  }

  #tail(dispatch: number, attempt: number): string {
    const files = filesOf(attemptFolder(this.place.dataDir, dispatch, attempt))
    const text = tailOf(files.err, TAIL_BYTES).trim() || tailOf(files.out, TAIL_BYTES).trim()
    return text.split('\n').slice(-TAIL_LINES).join('\n')
  }

  async #over(
    row: DispatchRow,
    attempt: AttemptRow,
    profile: Profile,
    cause: Cause,
    detail: string | null,
    facts: Partial<
      Pick<AttemptRow, 'exit' | 'signal' | 'forced' | 'leftover' | 'cost' | 'turns' | 'tokens' | 'tail'>
    > = {},
  ): Promise<void> {
    const { dispatches } = this.#store
    const causes = dispatches.attempts(row.id).flatMap((one) => (one.cause === null ? [] : [one.cause]))
    const next = nextAfter([...causes, cause], profile)
    const then =
      'retryMs' in next
        ? { ready: Date.now() + next.retryMs }
        : { state: 'ending' as const, outcome: next.outcome, reason: detail }
    // a session is gone on with where it is known to have worked
    const good = cause === 'replied' || cause === 'closed' || cause === 'ran' || cause === 'silent'
    const forget = cause === 'session_lost'
    const pointer =
      good || forget
        ? {
            agent: row.agent,
            folder: folderOf(profile.cwd),
            provider: attempt.provider,
            session: forget ? null : attempt.session,
          }
        : null
    const taken = await dispatches.endAttempt(
      attempt,
      { cause, detail, session: attempt.session, ...facts },
      then,
      pointer,
    )
    this.log('an attempt has ended', { dispatch: row.id, attempt: attempt.number, cause })
    if (!taken || 'retryMs' in next) return
    const now = dispatches.get(row.id)
    if (now) await this.#finish(now)
  }

  /** Ends a dispatch without a further attempt. */
  async #conclude(row: DispatchRow, outcome: Outcome, reason: string | null): Promise<void> {
    await this.#store.dispatches.change(row.id, { state: 'ending', outcome, reason })
    await this.#finish({ ...row, state: 'ending', outcome, reason })
  }

  /** Tells the dispatcher, once however often this is tried, and gives the lease back. */
  async #finish(row: DispatchRow): Promise<void> {
    const { dispatches } = this.#store
    const outcome = row.outcome ?? 'failed'
    const { reply } = settledBy(this.#store, row)
    const bounce = TOLD.has(outcome) && row.backOf === null ? await this.#bounce(row, outcome) : null
    const { back, release } = this.#back(row, reply ?? bounce)
    try {
      await dispatches.end(row.id, { outcome, reply, bounce }, back)
    } finally {
      release()
    }
    this.log('a dispatch has ended', { dispatch: row.id, outcome })
  }

  async #bounce(row: DispatchRow, outcome: Outcome): Promise<number | null> {
    const { registry, dispatches } = this.#store
    const to = recipientOf(this.#store, row.by, row.byBox, this.mail().alive)
    if (!to) return null
    const letter = row.message === null ? null : this.#store.message(row.message)
    const text = bounceText({
      row,
      agent: registry.accountById(row.agent)?.name ?? 'an agent that is gone',
      outcome,
      reason: row.reason,
      attempts: dispatches.attempts(row.id),
      letter,
    })
    return this.#postmaster.write({ to, ...text, parent: letter, key: `bounce-${row.id}` })
  }

  /** Who asked out of a run of its own, and does not run any more, is started again to read what came of it. */
  #back(row: DispatchRow, news: number | null): { back: NewDispatch | null; release: () => void } {
    const none = { back: null, release: () => {} }
    const to = this.#store.registry.accountById(row.by)
    const message = news === null ? null : this.#store.message(news)
    if (row.parent === null || !message || !to || !this.#store.dispatches.agent(row.by)) return none
    const by = this.#store.registry.accountById(row.agent)
    const session = this.#store.registry.sessionByBox(message.senderBox)
    if (!by || !session) return none
    try {
      const admitted = admit(this.mail(), { account: by, session }, to, {
        fresh: false,
        hop: message.hop,
        back: { of: row.id, depth: row.depth + 1, message: message.id, thread: message.thread },
      })
      return { back: admitted.row, release: admitted.release }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      this.log('a dispatcher is not started again', { dispatch: row.id, why: error.kind })
      return none
    }
  }
}

/** Outcomes of which nobody else tells the dispatcher. */
const TOLD: ReadonlySet<Outcome> = new Set(['silent', 'failed', 'timed_out', 'stopped', 'closed'])
