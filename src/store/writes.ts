// The writes of mail as the engine sees them: each builds a job, waits for its commit, and brings the registry up to date.
import type { CloseReason } from '../wire/letter.ts'
import type { Dispatches } from './dispatch/dispatches.ts'
import { type Job, OPEN_BATCH } from './jobs/job.ts'
import type { Queue } from './queue.ts'
import { recipientsText } from './recipients.ts'
import type { MemoryRegistry } from './registry.ts'
import type { AccountRow, EventRow, SessionRow } from './rows.ts'
import type { Sequence } from './sequence.ts'
import type { Commit, SendJob, SendOutcome, Settled } from './store.ts'

const readerOf = (account: AccountRow, session: SessionRow) => ({
  account: account.id,
  accountBox: account.box,
  session: session.id,
  sessionBox: session.box,
})

const NOWHERE: number[] = []
/** The outcome of a send that was stored as it was asked. */
const stored = (id: number, created: number): SendOutcome => ({
  id,
  created,
  duplicate: false,
  conflict: false,
  superseded: 0,
  quiet: NOWHERE,
  closed: false,
  dispatch: null,
})

export class Writes {
  /** What the batch being answered has brought; handed to the listeners when it is complete. */
  commits: Commit[] = []

  constructor(
    readonly queue: () => Queue,
    readonly registry: MemoryRegistry,
    readonly dispatches: Dispatches,
    readonly sequence: Sequence,
    readonly touch: (session: SessionRow) => void,
  ) {}

  send(job: SendJob): Promise<SendOutcome> {
    const open = job.open ?? null
    const extra =
      (job.close === null ? 0 : 1) +
      (open === null ? 0 : 2) +
      (job.upsert === null ? 0 : job.recipients.length) +
      (job.dispatch ? 1 : 0)
    const id = this.sequence.take(1 + extra)
    const random = this.sequence.random()
    const { at, step } = this.sequence.now()
    const row = {
      k: 'send' as const,
      id,
      random,
      at,
      events: id + 1,
      clockStep: step,
      reader: readerOf(job.account, job.session),
      scope: job.scope,
      thread: job.thread,
      parent: job.parent,
      hop: job.hop,
      recipients: recipientsText(job.recipients),
      json: job.fragment(id, random, at),
      idempotency: job.idempotency,
      upsert: job.upsert,
      close: job.close,
      open,
      dispatch: job.dispatch ?? null,
    }
    return this.queue().submit(row, (told) => {
      const outcome = told ?? stored(id, at)
      if (!outcome.duplicate && !outcome.conflict) {
        const { hop, recipients } = job
        this.commits.push({
          kind: 'sent',
          id,
          created: at,
          account: job.account.id,
          senderBox: job.session.box,
          hop,
          recipients,
          quiet: outcome.quiet,
        })
        if (job.dispatch && outcome.dispatch !== null)
          this.dispatches.added(outcome.dispatch, job.dispatch, at, { message: id, thread: job.thread || id })
        for (const { reason, account, message } of told?.events ?? [])
          if (reason === 'superseded')
            for (const to of recipients) if (to.account === account) this.registry.removeClaim(to.box, message)
        if (outcome.closed && job.close !== null) this.registry.removeClaim(job.account.box, job.close)
      }
      if (told) this.happened(told.events)
      return outcome
    })
  }

  settle(account: AccountRow, session: SessionRow, ids: readonly number[], reason: CloseReason): Promise<Settled[]> {
    const job = { k: 'settle' as const, reader: readerOf(account, session), ids, reason, ...this.#reserve(ids.length) }
    return this.queue().submit(job, ({ settled, events }) => {
      for (const one of settled) if (one.ok) this.registry.removeClaim(account.box, one.id)
      this.happened(events)
      return settled
    })
  }

  reopen(account: AccountRow, session: SessionRow, ids: readonly number[]): Promise<Settled[]> {
    const job = { k: 'reopen' as const, reader: readerOf(account, session), ids, ...this.#reserve(ids.length) }
    return this.queue().submit(job, ({ settled, events }) => {
      this.happened(events)
      return settled
    })
  }

  claim(account: AccountRow, session: SessionRow, ids: readonly number[], until: number): Promise<Settled[]> {
    const job = { k: 'claim' as const, reader: readerOf(account, session), ids, until, at: Date.now() }
    return this.queue().submit(job, ({ settled }) => {
      for (const one of settled) {
        if (!one.ok) continue
        if (until === 0) this.registry.removeClaim(account.box, one.id)
        else this.registry.putClaim({ box: account.box, id: one.id, session: session.id, until })
      }
      return settled
    })
  }

  open(
    account: AccountRow,
    session: SessionRow,
    what: { ids: readonly number[] } | { upTo: number; except: ReadonlySet<number> },
  ): Promise<void> {
    const reader = readerOf(account, session)
    if ('ids' in what)
      return this.queue().submit(
        { k: 'open', reader, ids: what.ids, ...this.#reserve(2 * what.ids.length) },
        ({ events }) => this.happened(events),
      )
    const job = {
      k: 'openUpTo' as const,
      reader,
      from: session.opened,
      upTo: what.upTo,
      except: [...what.except],
      ...this.#reserve(OPEN_BATCH),
    }
    return this.queue().submit(job, ({ events, reached }) => {
      session.opened = Math.max(session.opened, reached)
      this.touch(session)
      this.happened(events)
    })
  }

  notified(box: number, ids: readonly number[]): void {
    if (ids.length > 0) this.#background({ k: 'notified', box, ids, at: Date.now() })
  }

  release(session: SessionRow, account: AccountRow, letters: number): Promise<number> {
    const job = {
      k: 'release' as const,
      session: session.id,
      account: account.id,
      from: session.box,
      to: account.box,
      ...this.#reserve(letters),
    }
    return this.queue().submit(job, ({ count, events }) => {
      this.happened(events)
      return count
    })
  }

  setCursor(subscriber: string, id: number | null): void {
    this.#background({ k: 'setCursor', subscriber, id })
  }

  /** A write that nobody waits for: if it fails, the next one of its kind makes up for it. */
  #background(job: Job): void {
    this.queue()
      .submit(job, () => {})
      .catch(() => {})
  }

  #reserve(count: number): { events: number; at: number } {
    return { events: this.sequence.take(Math.max(1, count)), at: Date.now() }
  }

  /** Events of a job that has been committed. */
  happened(events: readonly EventRow[]): void {
    for (const event of events) this.commits.push({ kind: 'event', event })
  }
}
