// Keeping on SQLite: retention in small steps between the writes of others, archive and export walks, imports.
import type { Database } from 'bun:sqlite'
import type { Job, JobOf, Results } from '../jobs/job.ts'
import type { Queue } from '../queue.ts'
import { ArchiveReads } from '../reads/archive.ts'
import type { LogReads } from '../reads/log.ts'
import type { PageRow } from '../rows.ts'
import type { Sequence } from '../sequence.ts'
import type { Keeping, Retained } from './keeping.ts'
import { clearKeys, type Stale, StaleKeys } from './keys.ts'
import { Pace } from './pace.ts'
import { cutoff, DEFAULT_POLICY } from './policy.ts'
import { partsOf, Scan, type Seen } from './scan.ts'

const EVENTS = 500

export type KeepingParts = {
  db: Database
  queue: () => Queue
  log: LogReads
  sequence: Sequence
  /** Does the account still belong to the room? */
  isMember: (room: number, account: number) => boolean
  /** Something up to that sequence was stored. */
  reached: (id: number) => void
}

export class SqliteKeeping implements Keeping {
  policy = DEFAULT_POLICY
  readonly #parts: KeepingParts
  readonly #archive: ArchiveReads
  readonly #events
  readonly #followers
  readonly #stale: StaleKeys
  #turn: Promise<unknown> = Promise.resolve()

  constructor(parts: KeepingParts) {
    const { db } = parts
    this.#parts = parts
    this.#archive = new ArchiveReads(db)
    this.#stale = new StaleKeys(db)
    this.#events = db.prepare<{ id: number; at: number }, [number, number]>(
      'SELECT id, at FROM event WHERE id > ? ORDER BY id LIMIT ?',
    )
    this.#followers = db.prepare<{ id: number | null }, []>('SELECT min(id) AS id FROM cursor')
  }

  get floor(): number {
    return this.#parts.log.floor()
  }

  async plan(now: number, signal?: AbortSignal): Promise<Retained> {
    const total = nothing()
    const before = cutoff(this.policy.closedDays, now)
    if (before !== null)
      for await (const seen of this.#conversations(before, new Pace(), signal)) {
        count(total, seen)
        if (signal?.aborted) return total
      }
    for (const upTo of this.#oldEvents(now)) total.events += upTo.count
    return total
  }

  retain(now: number, signal?: AbortSignal): Promise<Retained> {
    const pass = this.#turn.then(() => this.#retain(now, signal))
    this.#turn = pass.catch(() => {})
    return pass
  }

  async #retain(now: number, signal: AbortSignal | undefined): Promise<Retained> {
    const total = nothing()
    const before = cutoff(this.policy.closedDays, now)
    const pace = new Pace()
    if (before !== null)
      for await (const seen of this.#conversations(before, pace, signal)) {
        count(total, { found: [], kept: seen.kept })
        for (const parts of partsOf(seen.found)) {
          if (signal?.aborted) return total
          const removed = new Set((await this.#write({ k: 'retain', parts, before, at: now })).removed)
          count(total, { found: seen.found.filter(({ part }) => removed.has(part.ids[0] ?? 0)), kept: [] })
          await pace.wait()
        }
      }
    for (const { upTo } of this.#oldEvents(now)) {
      if (signal?.aborted) return total
      total.events += (await this.#write({ k: 'forgetEvents', upTo, limit: EVENTS })).events
      await pace.wait()
    }
    if (total.messages > 0 && !signal?.aborted)
      await clearKeys(this.#stale, (stale: Stale) => this.#write({ k: 'forgetKeys', ...stale }), pace, signal)
    return total
  }

  async *#conversations(before: number, pace: Pace, signal: AbortSignal | undefined): AsyncGenerator<Seen> {
    for await (const seen of new Scan(this.#parts.db, this.#parts.log).conversations(before, () => pace.wait())) {
      if (signal?.aborted) return
      yield seen
    }
  }

  /** Pieces of the log that are old enough, and that every subscriber has passed. */
  *#oldEvents(now: number): Generator<{ upTo: number; count: number }> {
    const before = cutoff(this.policy.eventsDays, now)
    if (before === null) return
    const passed = this.#followers.get()?.id ?? Number.MAX_SAFE_INTEGER
    for (let after = 0; ; ) {
      const rows = this.#events.all(after, EVENTS)
      const young = rows.findIndex(({ id, at }) => at >= before || id > passed)
      const old = young < 0 ? rows : rows.slice(0, young)
      const last = old.at(-1)
      if (last) yield { upTo: last.id, count: old.length }
      if (!last || old.length < EVENTS) return
      after = last.id
    }
  }

  archive: Keeping['archive'] = (account, sessionBox, before) =>
    this.#archive.page(account.box, sessionBox, before, (row: PageRow) => this.#parts.isMember(row.room, account.id))
  messages: Keeping['messages'] = (after, limit) => this.#archive.messages(after, limit)
  copy: Keeping['copy'] = (box, id) => this.#archive.copy(box, id)
  imported: Keeping['imported'] = (key) => this.#archive.imported(key)
  importedThread: Keeping['importedThread'] = (key) => this.#archive.importedThread(key)
  reserve: Keeping['reserve'] = (count) => this.#parts.sequence.take(count)

  async add(...[first, letters, now]: Parameters<Keeping['add']>): Promise<void> {
    const { sequence, reached } = this.#parts
    const rows = letters.map((letter, at) => {
      const { fragment, thread, ...rest } = letter
      const id = first + at
      const random = sequence.random()
      const step = sequence.dated(letter.created)
      return { ...rest, id, random, step, thread: thread ?? id, json: fragment(id, random, letter.created) }
    })
    await this.#write({ k: 'import', letters: rows, at: now })
    reached(first + letters.length - 1)
  }

  #write: Submit = (job) => this.#parts.queue().submit(job, (outcome) => outcome)
}

type Submit = <K extends Job['k']>(job: JobOf<K>) => Promise<Results[K]>

const nothing = (): Retained => ({
  messages: 0,
  conversations: 0,
  bytes: 0,
  events: 0,
  accounts: new Map(),
  oldest: null,
  newest: null,
})

function count(total: Retained, { found, kept }: Seen): void {
  const of = (account: number) => {
    const known = total.accounts.get(account) ?? { going: 0, notClosed: 0, tooYoung: 0 }
    total.accounts.set(account, known)
    return known
  }
  for (const { part, bytes, copies, since } of found) {
    total.messages++
    total.bytes += bytes
    if (part.ids[0] === part.thread) total.conversations++
    total.oldest = Math.min(total.oldest ?? since, since)
    total.newest = Math.max(total.newest ?? since, since)
    for (const { account } of copies) of(account).going++
  }
  for (const { copies, why } of kept)
    for (const { account, closed } of copies) {
      if (why === 'too_young') of(account).tooYoung++
      else if (closed !== 1) of(account).notClosed++
    }
}
