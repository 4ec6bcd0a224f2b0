// People on SQLite: what is asked often is kept in memory and changed after each commit.
import type { Database } from 'bun:sqlite'
import { canonical } from '../../wire/ids.ts'
import type { Queue } from '../queue.ts'
import { type AccountRow, NO_RIGHTS, type SessionRow } from '../rows.ts'
import {
  type AliasRow,
  type FaultRow,
  type People,
  type StateCounts,
  SYSTEM,
  SYSTEM_DIGEST,
  SYSTEM_SESSION,
  type TrafficRow,
  type Why,
} from './people.ts'

type Parts = {
  db: Database
  queue: () => Queue
  /** What is found in the projection of the messages, once it has caught up. */
  index: <T>(look: (index: Database) => T) => Promise<T>
  /** Sessions of an account that are in memory. */
  sessions: (account: number) => readonly SessionRow[]
}

const byName = (a: AliasRow, b: AliasRow) => (canonical(a.name) < canonical(b.name) ? -1 : 1)

export class SqlitePeople implements People {
  readonly #parts: Parts
  /** account → name without case → alias */
  readonly #aliases = new Map<number, Map<string, AliasRow>>()
  readonly #private = new Set<number>()
  /** Private account → who may see it, and why. */
  readonly #known = new Map<number, Map<number, Set<Why>>>()
  readonly #faults = new Map<string, FaultRow>()
  readonly #seen
  readonly #count
  #system: Promise<{ account: AccountRow; session: SessionRow }> | null = null

  constructor(parts: Parts) {
    this.#parts = parts
    const { db } = parts
    const all = <Row>(sql: string): Row[] => db.query<Row, []>(sql).all()
    for (const row of all<{ account: number } & AliasRow>('SELECT account, name, address FROM alias'))
      this.#putAlias(row.account, { name: row.name, address: row.address })
    for (const { account } of all<{ account: number }>('SELECT account FROM private')) this.#private.add(account)
    for (const row of all<{ account: number; peer: number; why: Why }>('SELECT account, peer, why FROM known'))
      this.#knows(row.account, row.peer, row.why)
    for (const fault of all<FaultRow>('SELECT name, since, text FROM fault ORDER BY since'))
      this.#faults.set(fault.name, fault)
    this.#seen = db.prepare<{ at: number }, [number]>('SELECT at FROM seen WHERE account = ?')
    this.#count = db.prepare<{ n: number }, [number, number, number, number]>(
      `SELECT count(*) AS n FROM (SELECT 1 FROM delivery
       WHERE box = ?1 AND closed = ?2 AND (?2 = 1 OR (opened IS NOT NULL) = ?3) LIMIT ?4)`,
    )
  }

  aliases = (account: number) => [...(this.#aliases.get(account)?.values() ?? [])].sort(byName)
  alias = (account: number, name: string) => this.#aliases.get(account)?.get(canonical(name))?.address
  isPrivate = (account: number) => this.#private.has(account)
  isKnownTo = (account: number, peer: number) => this.#known.get(account)?.has(peer) ?? false
  faults = () => [...this.#faults.values()]

  setAlias(account: AccountRow, name: string, address: string | null): Promise<void> {
    return this.#queue.submit({ k: 'setAlias', account: account.id, name, address }, () => {
      if (address === null) this.#aliases.get(account.id)?.delete(canonical(name))
      else this.#putAlias(account.id, { name, address })
    })
  }

  listed(account: number): number[] {
    return [...(this.#known.get(account) ?? [])].filter(([, why]) => why.has('listed')).map(([peer]) => peer)
  }

  /** Hidden at once, shown once that is on the disk: nobody sees a private account meanwhile. */
  async setPrivacy(account: AccountRow, change: { private?: boolean; listed?: readonly number[] }): Promise<void> {
    const { id } = account
    const wasPrivate = this.#private.has(id)
    if (change.private === true) this.#private.add(id)
    const job = {
      k: 'setPrivacy' as const,
      account: id,
      private: change.private ?? null,
      listed: change.listed ?? null,
    }
    try {
      await this.#queue.submit(job, ({ known }) => {
        if (change.private === false) this.#private.delete(id)
        this.#known.delete(id)
        for (const { peer, why } of known) this.#knows(id, peer, why)
      })
    } catch (error) {
      if (!wasPrivate) this.#private.delete(id)
      throw error
    }
  }

  /** In memory at once. If its commit fails, so does that of the letter behind it in the queue. */
  meet(account: number, peers: readonly number[]): void {
    const fresh = peers.filter((peer) => !this.#known.get(account)?.get(peer)?.has('wrote'))
    if (fresh.length === 0) return
    for (const peer of fresh) this.#knows(account, peer, 'wrote')
    this.#queue.submit({ k: 'meet', account, peers: fresh }, () => {}).catch(() => {})
  }

  lastSeen(account: number): number | null {
    const times = this.#parts.sessions(account).map((session) => session.lastSeen)
    const ended = this.#seen.get(account)?.at
    if (ended !== undefined) times.push(ended)
    return times.length === 0 ? null : Math.max(...times)
  }

  raise(fault: FaultRow): Promise<void> {
    return this.#queue.submit({ k: 'raiseFault', ...fault }, () => {
      if (!this.#faults.has(fault.name)) this.#faults.set(fault.name, fault)
    })
  }

  clear(name: string): Promise<void> {
    return this.#queue.submit({ k: 'clearFault', name }, () => {
      this.#faults.delete(name)
    })
  }

  system(): Promise<{ account: AccountRow; session: SessionRow }> {
    this.#system ??= this.#queue
      .submit({ k: 'system', at: Date.now() }, ({ account, session }) => ({
        account: {
          ...account,
          name: SYSTEM,
          label: null,
          kind: 'agent' as const,
          can: NO_RIGHTS,
          digest: SYSTEM_DIGEST,
        },
        session: systemSession(account.id, session, account.created),
      }))
      .catch((error) => {
        this.#system = null
        throw error
      })
    return this.#system
  }

  async traffic(account: number): Promise<TrafficRow[]> {
    return this.#parts.index((index) =>
      index
        .query<TrafficRow, [number]>(
          'SELECT peer, day, sent, heard, last_sent AS lastSent, last_heard AS lastHeard FROM traffic WHERE account = ? ORDER BY day, peer',
        )
        .all(account),
    )
  }

  counts(boxes: readonly number[], limit: number): StateCounts {
    const sum = (closed: 0 | 1, opened: 0 | 1) =>
      boxes.reduce((total, box) => total + (this.#count.get(box, closed, opened, limit)?.n ?? 0), 0)
    return { new: sum(0, 0), opened: sum(0, 1), closed: sum(1, 0) }
  }

  get #queue(): Queue {
    return this.#parts.queue()
  }

  #putAlias(account: number, alias: AliasRow): void {
    const own = this.#aliases.get(account) ?? new Map<string, AliasRow>()
    this.#aliases.set(account, own.set(canonical(alias.name), alias))
  }

  #knows(account: number, peer: number, why: Why): void {
    const known = this.#known.get(account) ?? new Map<number, Set<Why>>()
    this.#known.set(account, known.set(peer, (known.get(peer) ?? new Set()).add(why)))
  }
}

/** No process is behind it: it has ended before it began. */
const systemSession = (account: number, { id, box }: { id: number; box: number }, at: number): SessionRow => ({
  id,
  account,
  name: SYSTEM_SESSION,
  box,
  instance: { boot: '', pidns: '', pid: 0, start: '', pidfd: null },
  conversation: null,
  attested: { pid: 0, started_at_unix_ms: at, exe: null, uid: 0, spawned_by: null },
  corroborated: { provider: null, provider_session_id: null, conversation: null, model: null, cwd: null, sources: {} },
  declared: { working_on: null, role: null, parent: null },
  firstSeen: at,
  lastSeen: at,
  ended: at,
  successor: null,
  given: 0,
  opened: 0,
  told: 0,
})
