// The course of one dispatch: attempt after attempt, each written down before it is started and watched to its end.
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { digestOf, newSecret } from '../../engine/admin/secret.ts'
import type { AttemptRow, Cause, DispatchRow, Profile } from '../../store/dispatch/rows.ts'
import { messageId } from '../../wire/names.ts'
import { attemptFolder, filesOf, readClaim } from './attempt-files.ts'
import { classify } from './classify.ts'
import { secretsIn } from './environment.ts'
import { evidenceIn } from './evidence.ts'
import { Family } from './family.ts'
import { conclude, finish } from './finish.ts'
import {
  folderOf,
  mintedSession,
  type Prepared,
  prepare,
  setupFault,
  startAttendant,
  startTransient,
} from './launch.ts'
import { nextAfter, planOf } from './next.ts'
import { bootId, runs } from './proc.ts'
import { promptFor } from './prompt.ts'
import { providerNamed } from './providers/all.ts'
import type { Provider } from './providers/provider.ts'
import { recoverOne } from './recover.ts'
import { redact } from './redact.ts'
import { settledBy } from './settled.ts'
import type { Shop } from './shop.ts'
import { belowSystemd } from './transient.ts'
import { type Seen, watch } from './watch.ts'

const LOST_CLAIM_MS = 30_000
const CLAIM_TICK_MS = 20

export class Course {
  constructor(readonly shop: Shop) {}

  /** The next attempt of a dispatch. */
  async begin(row: DispatchRow, profile: Profile): Promise<void> {
    const { dispatches } = this.shop.store
    const settled = settledBy(this.shop.store, row)
    const before = dispatches.attempts(row.id)
    const open = before.find(({ ended }) => ended === null)
    if (open) return this.#recovered(row, open)
    if (settled.how === 'replied' || settled.how === 'closed') return conclude(this.shop, row, settled.how, null)
    if (row.started !== null && Date.now() - row.started > profile.totalSecs * 1000)
      return conclude(this.shop, row, 'timed_out', `longer than ${profile.totalSecs} s in all`)
    const provider = providerNamed(profile.provider)
    if (!provider) return conclude(this.shop, row, 'failed', `there is no provider ${profile.provider}`)
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
    if (!attempt) throw new Error('another dispatch holds the agent or its folder')
    const fault = setupFault({ profile, provider }, this.shop.place)
    if (fault !== null) return this.#over(row, attempt, profile, 'misconfigured', fault)
    const message = row.thread === null ? null : this.shop.store.message(row.thread)
    const prepared = prepare(
      {
        row,
        attempt,
        profile,
        provider,
        account: this.shop.store.registry.accountById(row.agent)?.name ?? '',
        thread: message ? messageId(message.id, message.random) : null,
        secret,
        prompt: promptFor(this.shop.store, row, profile, before),
      },
      this.shop.place,
    )
    const root = await this.#attended(prepared, attempt)
    if (this.shop.stopping.aborted) return
    if (root) await this.goOn(row, attempt, root)
    else await this.#recovered(row, attempt)
  }

  /** An attempt of which nobody knows whether it runs. */
  async #recovered(row: DispatchRow, attempt: AttemptRow): Promise<void> {
    const found = await recoverOne(this.shop.store, this.shop.place, attempt)
    if (found) await this.goOn(row, attempt, found.root)
  }

  /** Where the agent left off in that folder, unless some process of it holds that session right now: a client would fork it. */
  #pointer(row: DispatchRow, folder: string, provider: Provider): string | null {
    const session = this.shop.store.dispatches.pointer(row.agent, folder, provider.name)
    if (session === null) return null
    const holds = this.shop.store.registry
      .liveSessions()
      .some((one) => one.corroborated.provider_session_id === session && runs(one.instance))
    return holds ? null : session
  }

  /** Starts the attendant and waits for its claim. Null: it ended without one. */
  async #attended(prepared: Prepared, { run }: AttemptRow): Promise<{ pid: number; start: string } | null> {
    const { place } = this.shop
    for (const managed of belowSystemd(place.env) ? [true, false] : [false]) {
      let gone = false
      void (managed ? startTransient(prepared, run, place) : startAttendant(prepared, place)).then(() => {
        gone = true
      })
      for (const end = performance.now() + LOST_CLAIM_MS; performance.now() < end; await Bun.sleep(CLAIM_TICK_MS)) {
        // asked first: who claims and ends at once has claimed
        const wasGone = gone
        const claim = readClaim(prepared.folder)
        if (claim) return claim
        if (wasGone || this.shop.stopping.aborted) break
      }
    }
    return null
  }

  /** Watches an attempt that runs, ours or an earlier mailbox's. */
  async goOn(row: DispatchRow, planned: AttemptRow, root: { pid: number; start: string }): Promise<void> {
    const { dispatches } = this.shop.store
    const profile = dispatches.agent(row.agent)?.profile
    const provider = providerNamed(planned.provider)
    const family = new Family(planned.run, root, this.shop.place.times)
    if (!profile || !provider) {
      await family.end()
      return conclude(this.shop, row, 'stopped', 'its agent has no profile any more')
    }
    let attempt = planned
    if (attempt.spawned === null) {
      const started = { pid: root.pid, start: root.start, boot: bootId(), spawned: Date.now() }
      await dispatches.changeAttempt(attempt, started)
      this.#notified(row)
      attempt = { ...attempt, ...started }
    }
    const hop = row.message === null ? 0 : (this.shop.store.message(row.message)?.hop ?? 0)
    this.shop.active.add({ run: attempt.run, root, dispatch: row.id, depth: row.depth, hop })
    const since = attempt.spawned ?? 0
    const seen = await watch({
      attempt,
      profile,
      provider,
      folder: attemptFolder(this.shop.place.dataDir, row.id, attempt.number),
      family,
      signal: this.shop.stopping,
      row: () => dispatches.get(row.id),
      contacted: () => this.#contacted(row.agent, since, family),
      say: (activity) => this.shop.say(row.id, activity),
      healthy: (at) => void dispatches.changeAttempt(attempt, { healthy: at }).catch(() => {}),
    })
    this.shop.active.delete(attempt.run)
    if (seen) await this.#seen(row, attempt, profile, seen)
  }

  /** Its letter is in the text that the agent was started with: it was told of it, which is not to say that it was read. */
  #notified({ message, agent }: DispatchRow): void {
    const { store } = this.shop
    const to = message === null ? undefined : store.message(message)?.recipients.find((one) => one.account === agent)
    if (message !== null && to) store.notified(to.box, [message])
  }

  #contacted(account: number, since: number, family: Family): boolean {
    return this.shop.store.registry.someLive(account, (session) => {
      if (session.lastSeen < since) return false
      return family.look().some(({ pid, start }) => pid === session.instance.pid && start === session.instance.start)
    })
  }

  /** An attempt and its processes have ended: what it came to, and what follows. */
  async #seen(row: DispatchRow, attempt: AttemptRow, profile: Profile, seen: Seen): Promise<void> {
    const { exit, ended, transcript, errors, leftover, forced, healthy } = seen
    const { progress } = transcript
    const settled = settledBy(this.shop.store, row)
    const { cause, detail } = classify({ ended, exit, progress, errors, leftover, settled: settled.how })
    const secrets = secretsIn(this.shop.place.env)
    const session = progress.session ?? attempt.session
    await this.#over(row, { ...attempt, session }, profile, cause, detail && redact(detail, secrets), {
      healthy,
      exit: exit?.code ?? null,
      signal: exit?.signal ?? null,
      forced,
      leftover,
      cost: progress.cost,
      turns: progress.turns,
      tokens: progress.tokens,
      tail: redact(evidenceIn(attemptFolder(this.shop.place.dataDir, row.id, attempt.number), progress), secrets),
    })
  }

  async #over(
    row: DispatchRow,
    attempt: AttemptRow,
    profile: Profile,
    cause: Cause,
    detail: string | null,
    facts: Partial<
      Pick<AttemptRow, 'healthy' | 'exit' | 'signal' | 'forced' | 'leftover' | 'cost' | 'turns' | 'tokens' | 'tail'>
    > = {},
  ): Promise<void> {
    const { dispatches } = this.shop.store
    const causes = dispatches.attempts(row.id).flatMap((one) => (one.cause === null ? [] : [one.cause]))
    const next = nextAfter([...causes, cause], profile, this.shop.place.times)
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
    // the token ends with the attempt, and the letter is in the store
    const { token, prompt, env } = filesOf(attemptFolder(this.shop.place.dataDir, row.id, attempt.number))
    for (const path of [token, prompt, env]) rmSync(path, { force: true })
    const taken = await dispatches.endAttempt(
      attempt,
      { cause, detail, session: attempt.session, ...facts },
      then,
      pointer,
    )
    this.shop.log('an attempt has ended', { dispatch: row.id, attempt: attempt.number, cause })
    if (!taken || 'retryMs' in next) return
    const now = dispatches.get(row.id)
    if (now) await finish(this.shop, now)
  }
}
