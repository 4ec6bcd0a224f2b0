// The store on SQLite: writes through the queue, reads on their own connection, the registry in memory, and who listens to commits.
import type { Database } from 'bun:sqlite'
import { Dispatches } from './dispatch/dispatches.ts'
import type { Housekeeper } from './housekeeper.ts'
import { SqliteKeeping } from './keeping/sqlite-keeping.ts'
import { BY_PREFIX, selectSession, sessionRow } from './load.ts'
import { NotifyRows } from './notify/rows.ts'
import { SqlitePeople } from './people/sqlite-people.ts'
import type { Queue } from './queue.ts'
import { LedgerReads } from './reads/ledger.ts'
import { LogReads } from './reads/log.ts'
import { MessageReads } from './reads/messages.ts'
import { PageReads } from './reads/pages.ts'
import { searchIndex } from './reads/search.ts'
import { MemoryRegistry } from './registry.ts'
import { RegistryWrites } from './registry-writes.ts'
import {
  type AccountRow,
  type DeliveryRow,
  type EventRow,
  KIND,
  type MessageRow,
  type PageRow,
  type SessionRow,
} from './rows.ts'
import { Sequence } from './sequence.ts'
import { SessionWrites } from './session-writes.ts'
import type { Commit, PageQuery, SearchScope, Store } from './store.ts'
import { Upkeep } from './upkeep.ts'
import { Wakes } from './wake/wakes.ts'
import { Writes } from './writes.ts'

export type Parts = {
  db: Database
  /** The file, or null in memory. */
  path: string | null
  epoch: string
  sqlite: string
  /** Made last, since its batches end in this store. */
  queue: (before: (now: number) => ReturnType<SessionWrites['ride']>, after: () => void) => Queue
  housekeeper: Housekeeper
  release: () => void
}

export class SqliteStore implements Store {
  readonly epoch: string
  readonly registry: MemoryRegistry
  readonly keeping: SqliteKeeping
  readonly people: SqlitePeople
  readonly notify: NotifyRows
  readonly ledger: LedgerReads
  readonly dispatches: Dispatches
  readonly wakes: Wakes
  head: number
  readonly #parts: Parts
  readonly #queue: Queue
  readonly #upkeep: Upkeep
  readonly #writes: Writes
  readonly #sessions: SessionWrites
  readonly #registryWrites: RegistryWrites
  readonly #messages: MessageReads
  readonly #pages: PageReads
  readonly #log: LogReads
  readonly #sessionByName
  readonly #sessionsByPrefix
  readonly #sessionById
  readonly #predecessor
  readonly #orphaned
  #lost: readonly SessionRow[] | null = null
  readonly #listeners = new Set<(commits: readonly Commit[]) => void>()

  constructor(parts: Parts) {
    const { db } = parts
    this.#parts = parts
    this.epoch = parts.epoch
    this.registry = new MemoryRegistry(db)
    this.ledger = new LedgerReads(db)
    this.#messages = new MessageReads(db)
    this.#pages = new PageReads(db)
    this.#log = new LogReads(db)
    this.head = this.#log.head()
    const queue = () => this.#queue
    this.#sessions = new SessionWrites(queue, this.registry, () => {
      this.#lost = null
    })
    this.people = new SqlitePeople({
      db,
      queue,
      index: (look) => parts.housekeeper.index(this.head, look),
      sessions: (account) => this.registry.sessionsOf(account, 0),
    })
    this.#registryWrites = new RegistryWrites(queue, this.registry)
    const sequence = new Sequence(db, this.#log)
    const take = (count: number) => sequence.take(count)
    this.dispatches = new Dispatches(db, queue, { take, happened: (events) => this.#writes.happened(events) })
    this.registry.runToken = this.dispatches.accountByToken
    this.#writes = new Writes(queue, this.registry, this.dispatches, sequence, this.#sessions.touch)
    const reached = (id: number) => {
      this.head = Math.max(this.head, id)
    }
    this.keeping = new SqliteKeeping({ db, queue, log: this.#log, sequence, isMember: this.registry.isMember, reached })
    this.notify = new NotifyRows(db, queue)
    this.wakes = new Wakes(db, queue)
    this.#queue = parts.queue(
      (now) => this.#sessions.ride(now),
      () => this.#committed(),
    )
    this.#upkeep = new Upkeep(parts, this, this.#queue)
    this.#sessionByName = selectSession(db, 'account = ? AND name = ?')
    this.#sessionsByPrefix = selectSession(db, BY_PREFIX)
    this.#sessionById = selectSession(db, 'id = ?')
    this.#predecessor = selectSession(
      db,
      'account = ? AND provider_session = ? AND ended IS NOT NULL AND successor IS NULL ORDER BY ended DESC LIMIT 1',
    )
    this.#orphaned = selectSession(
      db,
      `ended IS NOT NULL AND successor IS NULL AND box IN (SELECT id FROM box WHERE open > 0)
       AND EXISTS (SELECT 1 FROM delivery d WHERE d.box = session.box AND d.closed = 0 AND d.kind = 1) ORDER BY ended LIMIT 1000`,
    )
  }

  get fault(): string | null {
    return this.#queue.fault
  }

  damaged(reason: string): void {
    this.#queue.damaged(reason)
  }

  send: Store['send'] = (job) => this.#writes.send(job)
  settle: Store['settle'] = (account, session, ids, reason) => this.#writes.settle(account, session, ids, reason)
  reopen: Store['reopen'] = (account, session, ids) => this.#writes.reopen(account, session, ids)
  claim: Store['claim'] = (account, session, ids, until) => this.#writes.claim(account, session, ids, until)
  open: Store['open'] = (account, session, what) => this.#writes.open(account, session, what)
  notified: Store['notified'] = (box, ids) => this.#writes.notified(box, ids)
  addSession: Store['addSession'] = (session) => this.#sessions.addSession(session)
  touchSession: Store['touchSession'] = (session) => this.#sessions.touch(session)
  declare: Store['declare'] = (session, declared) => this.#sessions.declare(session, declared)
  endSession: Store['endSession'] = (session) => this.#sessions.endSession(session)
  addAccount: Store['addAccount'] = (account) => this.#registryWrites.addAccount(account)
  changeAccount: Store['changeAccount'] = (account, change) => this.#registryWrites.changeAccount(account, change)
  removeAccount: Store['removeAccount'] = (account) => this.#registryWrites.removeAccount(account)
  addRoom: Store['addRoom'] = (name, label) => this.#registryWrites.addRoom(name, label)
  removeRoom: Store['removeRoom'] = (room) => this.#registryWrites.removeRoom(room)
  join: Store['join'] = (room, account) => this.#registryWrites.join(room, account)
  leave: Store['leave'] = (room, account) => this.#registryWrites.leave(room, account)
  setListener: Store['setListener'] = (account, listener) => this.#registryWrites.setListener(account, listener)
  setCursor: Store['setCursor'] = (subscriber, id) => this.#writes.setCursor(subscriber, id)

  async release(session: SessionRow): Promise<number> {
    const account = this.registry.accountById(session.account)
    if (!account) return 0
    return this.#writes.release(session, account, this.#pages.openCount(session.box))
  }

  message(id: number): MessageRow | null {
    return this.#messages.message(id)
  }

  keyed(account: number, key: string): { id: number; hash: string } | null {
    return this.#messages.keyed(account, key)
  }

  delivery(id: number, boxes: readonly number[]): DeliveryRow | null {
    return this.#messages.delivery(id, boxes)
  }

  page(query: PageQuery): IterableIterator<PageRow> {
    const account = this.registry.accountByBox(query.accountBox)?.id ?? 0
    const from = query.since === null ? 0 : this.#log.sequenceSince(query.since)
    const visible = (row: PageRow) => row.kind !== KIND.room || this.registry.isMember(row.room, account)
    return this.#pages.page(query, from, visible)
  }

  unread(accountBox: number, sessionBox: number): number {
    return this.#pages.unread(accountBox, sessionBox)
  }

  openCount(box: number): number {
    return this.#pages.openCount(box)
  }

  oldestOpen(box: number): { id: number; created: number } | null {
    return this.#pages.oldestOpen(box)
  }

  sent(account: number, scopes: readonly number[], before: number): IterableIterator<MessageRow> {
    return this.#messages.sent(account, scopes, before)
  }

  thread(thread: number, after: number): IterableIterator<MessageRow> {
    return this.#messages.thread(thread, after)
  }

  async search(query: string | null, scope: SearchScope, before: number, limit: number): Promise<number[]> {
    return this.#parts.housekeeper.index(this.head, (index) => searchIndex(index, query, scope, before, limit))
  }

  orphans(box: number, limit: number): { count: number; ids: number[] } {
    return this.#pages.orphans(box, limit)
  }

  /** Asked at every inbox: looked up again only after something that can change it. */
  orphanedSessions(account: number | null): readonly SessionRow[] {
    this.#lost ??= this.#orphaned.all().map(sessionRow)
    return account === null ? this.#lost : this.#lost.filter((session) => session.account === account)
  }

  sessionByName(account: number, name: string): SessionRow | null {
    const row = this.#sessionByName.get(account, name)
    return row ? (this.registry.sessionById(row.id) ?? sessionRow(row)) : null
  }

  sessionsByPrefix(account: number, prefix: string, limit: number): SessionRow[] {
    const rows = this.#sessionsByPrefix.all(account, prefix, limit)
    return rows.map((row) => this.registry.sessionById(row.id) ?? sessionRow(row))
  }

  sessionById(id: number): SessionRow | null {
    const row = this.registry.sessionById(id)
    if (row) return row
    const stored = this.#sessionById.get(id)
    return stored ? sessionRow(stored) : null
  }

  predecessor(account: number, providerSession: string): SessionRow | null {
    const row = this.#predecessor.get(account, providerSession)
    return row ? (this.registry.sessionById(row.id) ?? sessionRow(row)) : null
  }

  events(after: number, limit: number): EventRow[] {
    return this.#log.events(after, limit)
  }

  cursor(subscriber: string): number {
    return this.#log.cursor(subscriber)
  }

  subscribers(prefix: string): string[] {
    return this.#log.subscribers(prefix)
  }

  sequenceSince(since: number): number {
    return this.#log.sequenceSince(since)
  }

  /** The account's box and those of its sessions, merged by sequence. */
  unopened(account: AccountRow, limit: number): DeliveryRow[] {
    const boxes = new Set([account.box, ...this.registry.sessionsOf(account.id, 0).map((session) => session.box)])
    return [...boxes]
      .flatMap((box) => this.#pages.unopened(box, limit))
      .sort((a, b) => a.id - b.id)
      .slice(0, limit)
  }

  onCommit(listener: (commits: readonly Commit[]) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  backup: Store['backup'] = (path) => this.#upkeep.backup(path)
  inspect: Store['inspect'] = () => this.#upkeep.inspect()
  check: Store['check'] = () => this.#upkeep.check()
  stats: Store['stats'] = () => this.#upkeep.stats()

  async close(): Promise<void> {
    this.#sessions.finish()
    const isWritten = await this.#queue.close()
    const isKept = await this.#parts.housekeeper.close(isWritten ? LAST_MS : 0)
    const { db, path } = this.#parts
    if (!isWritten || !isKept) return this.#parts.release() // whoever touches the disk now would not come back
    // the connections of the threads end a moment after their threads; meanwhile, and while a backup runs, the log is busy
    db.run('PRAGMA busy_timeout = 0')
    for (let tries = 0; path !== null && isLogBusy(db) && tries < CHECKPOINT_TRIES; tries++) await Bun.sleep(5)
    db.close()
    this.#parts.release()
  }

  #committed(): void {
    this.#pages.forget()
    const commits = this.#writes.commits
    if (commits.length > 0) {
      this.#writes.commits = []
      for (const one of commits) {
        this.head = Math.max(this.head, one.kind === 'sent' ? one.id : one.event.id)
        if (this.#lost && this.#concernsLost(one)) this.#lost = null
      }
      for (const listener of this.#listeners) listener(commits)
    }
    this.#parts.housekeeper.committed()
  }

  /** Letters to ended sessions come, are replaced, or are released. */
  #concernsLost(one: Commit): boolean {
    if (one.kind === 'event') return one.event.kind === 'released' || one.event.reason === 'superseded'
    return one.recipients.some(({ kind, box }) => {
      if (kind !== KIND.session) return false
      const session = this.registry.sessionByBox(box)
      return session === undefined || session.ended !== null
    })
  }
}

/** Milliseconds that a stop waits for a checkpoint, or a step of the index. */
const LAST_MS = 5_000
/** Tries at the stop, 5 ms apart, to leave one whole file and no log beside it. */
const CHECKPOINT_TRIES = 100

/** Moves the whole log into the database; true when another connection was in the way. */
function isLogBusy(db: Database): boolean {
  return db.query<{ busy: number }, []>('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy === 1
}
