// The writes of sessions as identity sees them: register, refresh (kept in memory and written along with others), declare, end.
import type { Declared } from '../wire/card.ts'
import type { Job, JobOf } from './jobs/job.ts'
import type { Queue } from './queue.ts'
import type { MemoryRegistry } from './registry.ts'
import type { SessionRow } from './rows.ts'
import type { NewSession } from './store.ts'

const NOTHING_DECLARED: Declared = { working_on: null, role: null, parent: null }
/** Facts of sessions that are only refreshed are written this often at most, and at least. */
const TOUCH_MS = 1_000
const TOUCH_LATEST_MS = 30_000
/** Ended sessions are shown in the directory this long. */
const REMEMBER_ENDED_MS = 3_600_000

export class SessionWrites {
  readonly #queue: () => Queue
  readonly #registry: MemoryRegistry
  readonly #turned: () => void
  readonly #touched = new Set<SessionRow>()
  #touchedAt = 0
  #touchTimer: Timer | null = null

  /** `turned`: told when a session has begun or ended. */
  constructor(queue: () => Queue, registry: MemoryRegistry, turned: () => void) {
    this.#queue = queue
    this.#registry = registry
    this.#turned = turned
  }

  addSession(session: NewSession): Promise<SessionRow> {
    const at = Date.now()
    const { account, name, instance, conversation, predecessor } = session
    const facts = { attested: JSON.stringify(session.attested), corroborated: JSON.stringify(session.corroborated) }
    const providerSession = session.corroborated.provider_session_id
    return this.#queue().submit(
      { k: 'addSession', account, name, instance, conversation, providerSession, predecessor, at, ...facts },
      (row) => {
        const known = this.#registry.sessionById(row.id)
        if (known) return known
        const added: SessionRow = {
          id: row.id,
          account,
          name,
          box: row.box,
          instance,
          conversation,
          attested: session.attested,
          corroborated: session.corroborated,
          declared: NOTHING_DECLARED,
          firstSeen: at,
          lastSeen: at,
          ended: null,
          successor: null,
          given: row.given,
          opened: row.opened,
          told: row.told,
        }
        const before = row.predecessor === null ? undefined : this.#registry.sessionById(row.predecessor)
        if (before) before.successor = row.id
        this.#registry.putSession(added)
        this.#turned()
        return added
      },
    )
  }

  readonly touch = (session: SessionRow): void => {
    this.#touched.add(session)
    this.#touchTimer ??= setTimeout(() => {
      this.#touchTimer = null
      const job = this.#touchJob()
      if (job) this.#write(job)
    }, TOUCH_LATEST_MS)
  }

  declare(session: SessionRow, declared: Declared): Promise<void> {
    return this.#queue().submit({ k: 'declare', session: session.id, declared }, () => {
      session.declared = declared
    })
  }

  endSession(session: SessionRow): Promise<void> {
    const at = Date.now()
    // ahead of the end in the same queue: a successor, and whoever asks after a crash, finds how far this one had read
    if (this.#touched.delete(session)) this.#write({ k: 'touch', sessions: [factsOf(session)] })
    return this.#queue().submit({ k: 'endSession', session: session.id, at }, () => {
      session.ended ??= at
      this.#turned()
      this.#registry.removeClaimsOf(session.id)
      this.#registry.forgetSessions(at - REMEMBER_ENDED_MS)
    })
  }

  /** Housekeeping that rides along with a batch of others. */
  ride(now: number): Job[] {
    if (this.#touched.size === 0 || now - this.#touchedAt < TOUCH_MS) return []
    const job = this.#touchJob()
    return job ? [job] : []
  }

  /** Queues what was kept back, for the end. */
  finish(): void {
    if (this.#touchTimer) clearTimeout(this.#touchTimer)
    const job = this.#touchJob()
    if (job) this.#write(job)
  }

  /** Nobody waits for it: if it fails, the next one makes up for it. */
  #write(job: Job): void {
    this.#queue()
      .submit(job, () => {})
      .catch(() => {})
  }

  #touchJob(): Job | null {
    if (this.#touched.size === 0) return null
    const sessions = [...this.#touched].map(factsOf)
    this.#touched.clear()
    this.#touchedAt = Date.now()
    return { k: 'touch', sessions }
  }
}

const factsOf = (session: SessionRow): JobOf<'touch'>['sessions'][number] => ({
  id: session.id,
  lastSeen: session.lastSeen,
  given: session.given,
  opened: session.opened,
  told: session.told,
  providerSession: session.corroborated.provider_session_id,
  attested: JSON.stringify(session.attested),
  corroborated: JSON.stringify(session.corroborated),
})
