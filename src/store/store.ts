// What the store offers: one interface. SQL is nowhere else; `:memory:` is its in-memory form.
import type { Attested, Corroborated, Declared } from '../wire/card.ts'
import type { CloseReason } from '../wire/letter.ts'
import type { Capability } from '../wire/operations.ts'
import type { Dispatches } from './dispatch/dispatches.ts'
import type { NewDispatch } from './dispatch/rows.ts'
import type { StoreReport } from './inspect.ts'
import type { Keeping } from './keeping/keeping.ts'
import type { NotifyStore } from './notify/notify.ts'
import type { People } from './people/people.ts'
import type { Ledger } from './reads/ledger.ts'
import type {
  AccountRow,
  Claim,
  DeliveryRow,
  EventRow,
  InstanceKey,
  ListenerRow,
  MessageRow,
  PageRow,
  Recipient,
  RoomRow,
  SessionRow,
} from './rows.ts'
import type { Verified } from './verify.ts'
import type { Wakes } from './wake/wakes.ts'

/** The registry in memory, written through: reads cost no SQL. Names are looked up without case. */
export interface Registry {
  account(name: string): AccountRow | undefined
  accountById(id: number): AccountRow | undefined
  /** digest: SHA-256 of the bearer secret, hex. */
  accountByDigest(digest: string): AccountRow | undefined
  /** digest: of the token of a started agent, which ends with its attempt. */
  accountByRun(digest: string): AccountRow | undefined
  /** Hears of each account that is added, changed or removed, after that. Returns what ends it. */
  onAccount(listener: (id: number) => void): () => void
  /** Those of this machine, by name, ascending. */
  accounts(): readonly AccountRow[]
  /** Those of other machines. */
  remotes(): readonly AccountRow[]
  room(name: string): RoomRow | undefined
  roomById(id: number): RoomRow | undefined
  rooms(): readonly RoomRow[]
  isMember(room: number, account: number): boolean
  members(room: number): readonly number[]
  roomsOf(account: number): readonly RoomRow[]
  /** A session that has not ended, or an ended one that is still looked at; ended ones are found in the store. */
  session(account: number, name: string): SessionRow | undefined
  sessionById(id: number): SessionRow | undefined
  /** Sessions whose name starts with `prefix` (`s-` + hex), live ones first. */
  sessionsByPrefix(account: number, prefix: string): readonly SessionRow[]
  sessionByBox(box: number): SessionRow | undefined
  accountByBox(box: number): AccountRow | undefined
  /** Not ended, any account. */
  liveSessions(): readonly SessionRow[]
  /** Does a session of the account that has not ended pass `test`? */
  someLive(account: number, test: (session: SessionRow) => boolean): boolean
  /** Every session of the account that has not ended, and those that ended after `endedAfter` ms. */
  sessionsOf(account: number, endedAfter: number): readonly SessionRow[]
  listener(account: number): ListenerRow | undefined
  listeners(): readonly ListenerRow[]
  /** Active claim on a delivery, or undefined. */
  claim(box: number, id: number, now: number): Claim | undefined
  /** Active claims in a box that are not of `session`. */
  claimsByOthers(box: number, session: number, now: number): number
}

export type SendJob = {
  account: AccountRow
  session: SessionRow
  scope: number
  /** 0: it begins a thread of its own. */
  thread: number
  parent: number | null
  hop: number
  recipients: Recipient[]
  /** Members of the wire message that the store does not add itself, as a ready fragment; made once the id is known. */
  fragment: (id: number, random: string, created: number) => string
  idempotency: { key: string; hash: string } | null
  upsert: string | null
  /** Settle this message for the sender in the same transaction. */
  close: number | null
  /** Mark this message as opened by the sender in the same transaction. */
  open?: number | null
  /** Start its recipient to handle it; message and thread are the sent ones. */
  dispatch?: NewDispatch | null
}
export type SendOutcome = {
  id: number
  created: number
  /** The key was used before for the same content: `id` is the original's. */
  duplicate: boolean
  /** The key was used before for other content: `id` is the original's, nothing was stored. */
  conflict: boolean
  /** Earlier messages with the same upsert key that this one closed. */
  superseded: number
  /** Boxes where the superseded message had not been opened: do not ring again for those. */
  quiet: number[]
  closed: boolean
  /** Id of the dispatch that it brought. */
  dispatch: number | null
}

/** Outcome of ack, reopen or claim for one id. */
export type Settled =
  | { id: number; ok: true; at: number; first: boolean }
  | { id: number; ok: false; why: 'unknown' }
  | { id: number; ok: false; why: 'claimed'; claim: Claim }
  | { id: number; ok: false; why: 'not_closed' }
  | { id: number; ok: false; why: 'not_claimable' }

export type NewSession = {
  account: number
  name: string
  instance: InstanceKey
  conversation: string | null
  attested: Attested
  corroborated: Corroborated
  /** A session of the account that has ended without a successor: the new one takes over its box. */
  predecessor: number | null
}

export type AccountChange = {
  label?: string | null
  kind?: AccountRow['kind']
  can?: Partial<Record<Capability, boolean>>
  digest?: string
}

/** A page of deliveries of one reader: the account's box and the session's own. Rows come in ascending sequence. */
export type PageQuery = {
  accountBox: number
  sessionBox: number
  which: 'open' | 'closed' | 'all'
  /** Exclusive. */
  after: number
  since: number | null
  /** How many rows the reader will look at, if they are short and all of them are to be shown. */
  expect: number
}

/** What lies in `boxes` or was sent by `account`, or all. */
export type SearchScope = { boxes: readonly number[]; account: number | null } | 'all'

/** What a commit brought, in sequence order: who listens after the commit gets this. */
export type Commit =
  | {
      kind: 'sent'
      id: number
      created: number
      account: number
      senderBox: number
      hop: number
      recipients: readonly Recipient[]
      quiet: readonly number[]
    }
  | { kind: 'event'; event: EventRow }

export interface Store {
  /** 8 hex; changed by a restore. */
  readonly epoch: string
  readonly registry: Registry
  /** Retention, archive, import and export. */
  readonly keeping: Keeping
  readonly people: People
  /** Desktop notifications of each account. */
  readonly notify: NotifyStore
  /** The reads of operators. */
  readonly ledger: Ledger
  readonly dispatches: Dispatches
  readonly wakes: Wakes
  /** The newest sequence that is committed. */
  readonly head: number
  /** Why writes fail just now: the disk, until it is well, which is seen within seconds; or damage, which stays. */
  readonly fault: string | null
  /** Something of it could not be read, because it is damaged: from now on nothing is written, and `fault` says why. */
  damaged(reason: string): void

  // writes: each resolves after the commit that holds it (fsync); refusals `busy`, `store_unavailable`, `shutting_down`
  send(job: SendJob): Promise<SendOutcome>
  /** Closes for `session`; a room letter stays open in the boxes of the sibling sessions of that moment. */
  settle(account: AccountRow, session: SessionRow, ids: readonly number[], reason: CloseReason): Promise<Settled[]>
  reopen(account: AccountRow, session: SessionRow, ids: readonly number[]): Promise<Settled[]>
  /** `until` in ms; 0 gives the claim back. */
  claim(account: AccountRow, session: SessionRow, ids: readonly number[], until: number): Promise<Settled[]>
  /** Mark as opened by `session`; with `upTo`, every delivery in (session.opened, upTo] that it was shown and is not in `except`. */
  open(
    account: AccountRow,
    session: SessionRow,
    what: { ids: readonly number[] } | { upTo: number; except: ReadonlySet<number> },
  ): Promise<void>
  /** First time somebody was told; not waited for. */
  notified(box: number, ids: readonly number[]): void
  addSession(session: NewSession): Promise<SessionRow>
  /** last_seen, facts and watermarks; kept in memory at once, written with the next batch or within 30 s. */
  touchSession(session: SessionRow): void
  declare(session: SessionRow, declared: Declared): Promise<void>
  endSession(session: SessionRow): Promise<void>
  addAccount(account: {
    name: string
    label: string | null
    kind: AccountRow['kind']
    can: AccountRow['can']
    digest: string
  }): Promise<AccountRow>
  changeAccount(account: AccountRow, change: AccountChange): Promise<AccountRow>
  removeAccount(account: AccountRow): Promise<void>
  addRoom(name: string, label: string | null): Promise<RoomRow>
  removeRoom(room: RoomRow): Promise<void>
  join(room: RoomRow, account: AccountRow): Promise<void>
  /** Its open deliveries of that room are hidden until it joins again. */
  leave(room: RoomRow, account: AccountRow): Promise<void>
  setListener(account: AccountRow, listener: { url: string; key: string; coalesce: boolean } | null): Promise<void>
  /** Move the open letters of an ended session into its account's box. Resolves to how many. */
  release(session: SessionRow): Promise<number>
  /** Null: it follows the log no more, and holds nothing of it back. */
  setCursor(subscriber: string, id: number | null): void

  // reads: synchronous, on a connection of their own, of what is committed
  message(id: number): MessageRow | null
  /** The message that the account sent under that idempotency key, and the hash of its content. */
  keyed(account: number, key: string): { id: number; hash: string } | null
  /** The copy of `id` in one of `boxes`; the first box that has one wins. Hidden copies are not found. */
  delivery(id: number, boxes: readonly number[]): DeliveryRow | null
  /** Lazily, in ascending sequence; stop iterating when the budget is spent. A row that is no mail to this reader comes with an empty `json`, to be counted and not shown. */
  page(query: PageQuery): IterableIterator<PageRow>
  /** Not closed for the session with `sessionBox`: its own room posts excluded, siblings' claims not. */
  unread(accountBox: number, sessionBox: number): number
  /** Not closed in one box. */
  openCount(box: number): number
  /** Sequence and time of the oldest delivery in the box that is not closed. */
  oldestOpen(box: number): { id: number; created: number } | null
  /** Sent by the account, newest first, below `before`. What is not readable in `scopes` (0 and the session's box) has an empty `json`. */
  sent(account: number, scopes: readonly number[], before: number): IterableIterator<MessageRow>
  /** Ascending, above `after`. */
  thread(thread: number, after: number): IterableIterator<MessageRow>
  /** Ids that match, newest first, below `before`; `query` null: all in the scope. Waits until the index has caught up. */
  search(query: string | null, scope: SearchScope, before: number, limit: number): Promise<number[]>
  /** Open letters (kind session) in the box of an ended session. */
  orphans(box: number, limit: number): { count: number; ids: number[] }
  /** Ended sessions without successor that still have open letters. */
  orphanedSessions(account: number | null): readonly SessionRow[]
  sessionByName(account: number, name: string): SessionRow | null
  /** By name, at most `limit`, whether they have ended or not: also those that ended long ago. */
  sessionsByPrefix(account: number, prefix: string, limit: number): SessionRow[]
  /** By row id, also one that ended long ago: old letters name who opened and closed them. */
  sessionById(id: number): SessionRow | null
  /** Ended session of the account with that provider session id, newest first; null where there is none without a successor. */
  predecessor(account: number, providerSession: string): SessionRow | null
  /** Above `after`, ascending, sends included; at most `limit`. */
  events(after: number, limit: number): EventRow[]
  cursor(subscriber: string): number
  /** All that have a cursor whose name begins so. */
  subscribers(prefix: string): string[]
  /** Sequence below which nothing was created at or after `since` ms. */
  sequenceSince(since: number): number
  /** Open, never opened deliveries of an account's boxes, ascending, for doorbells after a restart. */
  unopened(account: AccountRow, limit: number): DeliveryRow[]

  /** After each commit, in order. Returns how to stop listening. */
  onCommit(listener: (commits: readonly Commit[]) => void): () => void
  /** Looks through the whole store in a thread of its own. */
  inspect(): Promise<StoreReport>
  /** A copy in a new file, checked: whole, of this store, with all that was acknowledged before it began. */
  backup(path: string): Promise<{ bytes: number } & Verified>
  /** `ok` or what integrity_check says. */
  check(): string
  stats(): {
    sqlite: string
    messages: number
    sessions: number
    accounts: number
    walBytes: number
    fileBytes: number
    queued: number
    commits: number
    committed: number
  }
  /** Finishes what is queued, checkpoints, releases the lock. */
  close(): Promise<void>
}
