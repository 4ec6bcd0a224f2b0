// Dispatch in the store: agents, pauses, open dispatches and run tokens in memory, written through; the rest is read.
import type { Database } from 'bun:sqlite'
import type { Queue } from '../queue.ts'
import type { EventRow } from '../rows.ts'
import { DispatchReads, type Whose } from './reads.ts'
import {
  type AgentRow,
  type AttemptChange,
  type AttemptRow,
  type DispatchChange,
  type DispatchRow,
  isFailed,
  type NewAttempt,
  type NewDispatch,
  type Outcome,
  type Pause,
  type Profile,
} from './rows.ts'

const DAY_MS = 86_400_000

/** The one log: numbers of its sequence, and who is told of what was written to it. */
export type DispatchLog = { take(count: number): number; happened(events: readonly EventRow[]): void }

export class Dispatches {
  readonly #queue: () => Queue
  readonly #log: DispatchLog
  readonly #reads: DispatchReads
  readonly #agents = new Map<number, AgentRow>()
  readonly #open = new Map<number, DispatchRow>()
  readonly #created = new Map<number, number[]>()
  readonly #reserved = new Set<NewDispatch>()
  /** digest of a run's token → account */
  readonly #tokens = new Map<string, number>()
  readonly #listeners = new Set<(row: DispatchRow) => void>()
  readonly #outcomes: Map<Outcome, number>
  /** When those of the last day that came to nothing ended. */
  #failed: number[]
  #pause: Pause | null

  constructor(db: Database, queue: () => Queue, log: DispatchLog) {
    this.#queue = queue
    this.#log = log
    this.#reads = new DispatchReads(db)
    this.#pause = this.#reads.pause()
    this.#outcomes = this.#reads.outcomes()
    this.#failed = this.#reads.failedSince(Date.now() - DAY_MS)
    for (const agent of this.#reads.agents()) this.#agents.set(agent.account, agent)
    for (const row of this.#reads.open()) this.#open.set(row.id, row)
    for (const { dispatch, digest } of this.#reads.openAttempts()) {
      const agent = this.#open.get(dispatch)?.agent
      if (agent !== undefined) this.#tokens.set(digest, agent)
    }
  }

  agent = (account: number): AgentRow | undefined => this.#agents.get(account)
  agents = (): AgentRow[] => [...this.#agents.values()]
  get pause(): Pause | null {
    return this.#pause
  }
  /** Not done, in the order in which they were asked for. */
  open = (): DispatchRow[] => [...this.#open.values()]
  get(id: number): DispatchRow | null {
    return this.#open.get(id) ?? this.#reads.dispatch(id)
  }
  ofMessage = (message: number): DispatchRow | null => this.#reads.ofMessage(message)
  list = (whose: Whose, failed: boolean, before: number, limit: number): DispatchRow[] =>
    this.#reads.list(whose, failed, before, limit)
  attempts = (dispatch: number): AttemptRow[] => this.#reads.attempts(dispatch)
  openAttempts = (): AttemptRow[] => this.#reads.openAttempts()
  pointer = (agent: number, folder: string, provider: string): string | null =>
    this.#reads.pointer(agent, folder, provider)
  /** The account whose run has a token of that digest, for as long as the attempt lasts. */
  accountByToken = (digest: string): number | undefined => this.#tokens.get(digest)

  /** How many ended with which outcome, ever. */
  outcomes = (): ReadonlyMap<Outcome, number> => this.#outcomes

  /** How many came to nothing in the last day. */
  failedToday(now: number): number {
    this.#failed = this.#failed.filter((ended) => ended > now - DAY_MS)
    return this.#failed.length
  }

  /** Of an agent, in the last day and what is being admitted just now; and when the oldest of them leaves the count. */
  today(agent: number, now: number): { count: number; oldest: number | null } {
    const since = now - DAY_MS
    let times = this.#created.get(agent)
    if (!times) {
      times = this.#reads.createdSince(agent, since)
      this.#created.set(agent, times)
    }
    const kept = times.filter((at) => at > since)
    this.#created.set(agent, kept)
    return {
      count: kept.length + [...this.#reserved].filter((row) => row.agent === agent).length,
      oldest: kept.length > 0 ? Math.min(...kept) : null,
    }
  }

  /** Counts one that is about to be stored, so that many at once do not pass the cap together. Returns how to give it back. */
  reserve(row: NewDispatch): () => void {
    this.#reserved.add(row)
    return () => void this.#reserved.delete(row)
  }

  /** Told of every dispatch that is new or has changed, after its commit. */
  onChange(listener: (row: DispatchRow) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  putAgent(account: number, profile: Profile, paused: Pause | null): Promise<AgentRow> {
    const at = Date.now()
    const row: AgentRow = {
      account,
      profile,
      paused: paused?.reason ?? null,
      pausedAt: paused?.at ?? null,
      created: this.#agents.get(account)?.created ?? at,
    }
    const { paused: why, pausedAt } = row
    return this.#queue().submit(
      { k: 'putAgent', account, profile: JSON.stringify(profile), paused: why, pausedAt, at: row.created },
      () => {
        this.#agents.set(account, row)
        return row
      },
    )
  }

  removeAgent(account: number): Promise<void> {
    return this.#queue().submit({ k: 'removeAgent', account }, () => void this.#agents.delete(account))
  }

  pauseAll(pause: Pause | null): Promise<void> {
    return this.#queue().submit({ k: 'pauseAll', pause: pause && JSON.stringify(pause) }, () => {
      this.#pause = pause
    })
  }

  /** Without a letter of its own. Null: the letter that it is about has one already. */
  queue(row: NewDispatch): Promise<DispatchRow | null> {
    const at = Date.now()
    return this.#queue().submit({ k: 'queueDispatch', row, at, events: this.#log.take(1) }, ({ id, events }) => {
      this.#log.happened(events)
      return id === null ? null : this.added(id, row, at)
    })
  }

  /** A dispatch that was just stored; `letter`: the one that brought it. */
  added(id: number, row: NewDispatch, at: number, letter?: { message: number; thread: number }): DispatchRow {
    this.#reserved.delete(row)
    const added: DispatchRow = {
      ...row,
      ...letter,
      id,
      state: 'queued',
      outcome: null,
      reason: null,
      created: at,
      ready: at,
      started: null,
      ended: null,
      stop: null,
      reply: null,
      bounce: null,
    }
    this.#created.get(row.agent)?.push(at)
    this.#put(added)
    return added
  }

  change(id: number, change: DispatchChange): Promise<void> {
    return this.#queue().submit({ k: 'changeDispatch', id, change }, () => this.#changed(id, change))
  }

  /** Takes the lease of agent and folder, and writes down what is about to be started. Null: somebody else holds it. */
  plan(attempt: NewAttempt, agent: number, folder: string): Promise<AttemptRow | null> {
    const at = Date.now()
    return this.#queue().submit({ k: 'planAttempt', attempt, agent, folder, at }, (planned) => {
      if (!planned) return null
      this.#tokens.set(attempt.digest, agent)
      const row = this.#open.get(attempt.dispatch)
      this.#changed(attempt.dispatch, { state: 'running', started: row?.started ?? at })
      return this.attempts(attempt.dispatch).find(({ number }) => number === attempt.number) ?? null
    })
  }

  /** False: it is not the attempt's turn any more, and nothing was changed. */
  changeAttempt({ dispatch, number, fence }: AttemptRow, change: AttemptChange): Promise<boolean> {
    const job = {
      k: 'changeAttempt' as const,
      dispatch,
      number,
      fence,
      change,
      at: Date.now(),
      events: this.#log.take(1),
    }
    return this.#queue().submit(job, ({ taken, events }) => {
      this.#log.happened(events)
      return taken
    })
  }

  /** Ends an attempt, and with it its token; `then` is what becomes of the dispatch, `pointer` where it goes on later. */
  endAttempt(
    { dispatch, number, fence, digest }: AttemptRow,
    change: AttemptChange,
    then: DispatchChange,
    pointer: { agent: number; folder: string; provider: string; session: string | null } | null,
  ): Promise<boolean> {
    const at = Date.now()
    return this.#queue().submit(
      { k: 'endAttempt', dispatch, number, fence, change, then, pointer, at, events: this.#log.take(1) },
      ({ taken, events }) => {
        this.#log.happened(events)
        this.#tokens.delete(digest)
        if (taken) this.#changed(dispatch, then)
        return taken
      },
    )
  }

  /** Ends a dispatch and gives its lease back; `back` wakes its dispatcher, once. */
  end(id: number, change: DispatchChange, back: NewDispatch | null): Promise<DispatchRow | null> {
    const at = Date.now()
    return this.#queue().submit({ k: 'endDispatch', id, change, back, at, events: this.#log.take(2) }, (done) => {
      this.#log.happened(done.events)
      this.#changed(id, { ...change, state: 'done', ended: at })
      return back && done.back !== null ? this.added(done.back, back, at) : null
    })
  }

  #changed(id: number, change: DispatchChange): void {
    const row = this.#open.get(id)
    if (row) this.#put({ ...row, ...change })
  }

  #put(row: DispatchRow): void {
    if (row.state === 'done') this.#ended(row)
    else this.#open.set(row.id, row)
    for (const listener of this.#listeners) listener(row)
  }

  #ended({ id, outcome, ended }: DispatchRow): void {
    this.#open.delete(id)
    if (outcome === null) return
    this.#outcomes.set(outcome, (this.#outcomes.get(outcome) ?? 0) + 1)
    if (isFailed(outcome) && ended !== null) this.#failed.push(ended)
  }
}
