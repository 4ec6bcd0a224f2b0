// The registry in memory: accounts, rooms, members, sessions, listeners, claims. Loaded at start, changed after each commit.
import type { Database } from 'bun:sqlite'
import { canonical } from '../wire/ids.ts'
import { loadRegistry } from './load.ts'
import type { AccountRow, Claim, ListenerRow, RoomRow, SessionRow } from './rows.ts'
import type { Registry } from './store.ts'

const byName = (a: { name: string }, b: { name: string }) => (canonical(a.name) < canonical(b.name) ? -1 : 1)

export class MemoryRegistry implements Registry {
  readonly #accounts = new Map<string, AccountRow>()
  readonly #accountsById = new Map<number, AccountRow>()
  readonly #accountsByDigest = new Map<string, AccountRow>()
  readonly #accountsByBox = new Map<number, AccountRow>()
  readonly #rooms = new Map<string, RoomRow>()
  readonly #roomsById = new Map<number, RoomRow>()
  readonly #members = new Map<number, Set<number>>()
  readonly #sessions = new Map<number, SessionRow>()
  /** account → session name → row */
  readonly #sessionsOf = new Map<number, Map<string, SessionRow>>()
  readonly #sessionsByBox = new Map<number, SessionRow>()
  readonly #listeners = new Map<number, ListenerRow>()
  readonly #hearers = new Set<(id: number) => void>()
  /** box → message → claim */
  readonly #claims = new Map<number, Map<number, Claim>>()

  constructor(db: Database) {
    const loaded = loadRegistry(db)
    for (const account of loaded.accounts) this.putAccount(account)
    for (const room of loaded.rooms) this.putRoom(room)
    for (const member of loaded.members) this.join(member.room, member.account)
    for (const session of loaded.sessions) this.putSession(session)
    for (const listener of loaded.listeners) this.putListener(listener)
    for (const claim of loaded.claims) this.putClaim(claim)
  }

  account = (name: string) => this.#accounts.get(canonical(name))
  accountById = (id: number) => this.#accountsById.get(id)
  accountByDigest = (digest: string) => this.#accountsByDigest.get(digest)
  accountByRun = (digest: string) => {
    const account = this.#accountsById.get(this.runToken(digest) ?? 0)
    return account && this.#accounts.get(canonical(account.name)) === account ? account : undefined
  }
  /** The account whose run has a token of that digest. */
  runToken: (digest: string) => number | undefined = () => undefined
  accountByBox = (box: number) => this.#accountsByBox.get(box)
  accounts = () => [...this.#accounts.values()].filter(({ kind }) => kind !== 'remote').sort(byName)
  remotes = () => [...this.#accounts.values()].filter(({ kind }) => kind === 'remote')
  room = (name: string) => this.#rooms.get(canonical(name))
  roomById = (id: number) => this.#roomsById.get(id)
  rooms = () => [...this.#rooms.values()].sort(byName)
  isMember = (room: number, account: number) => this.#members.get(room)?.has(account) ?? false
  members = (room: number) => [...(this.#members.get(room) ?? [])]
  roomsOf = (account: number) => this.rooms().filter((room) => this.isMember(room.id, account))
  session = (account: number, name: string) => this.#sessionsOf.get(account)?.get(name)
  sessionById = (id: number) => this.#sessions.get(id)
  sessionByBox = (box: number) => this.#sessionsByBox.get(box)
  listener = (account: number) => this.#listeners.get(account)
  listeners = () => [...this.#listeners.values()]

  sessionsByPrefix(account: number, prefix: string): SessionRow[] {
    const found: SessionRow[] = []
    for (const [name, session] of this.#sessionsOf.get(account) ?? []) if (name.startsWith(prefix)) found.push(session)
    return found.sort((a, b) => Number(a.ended !== null) - Number(b.ended !== null))
  }

  liveSessions(): SessionRow[] {
    return [...this.#sessions.values()].filter((session) => session.ended === null)
  }

  someLive(account: number, test: (session: SessionRow) => boolean): boolean {
    for (const session of this.#sessionsOf.get(account)?.values() ?? [])
      if (session.ended === null && test(session)) return true
    return false
  }

  sessionsOf(account: number, endedAfter: number): SessionRow[] {
    return [...(this.#sessionsOf.get(account)?.values() ?? [])]
      .filter((session) => session.ended === null || session.ended > endedAfter)
      .sort(byName)
  }

  claim(box: number, id: number, now: number): Claim | undefined {
    const claim = this.#claims.get(box)?.get(id)
    return claim && claim.until > now ? claim : undefined
  }

  claimsByOthers(box: number, session: number, now: number): number {
    let count = 0
    for (const claim of this.#claims.get(box)?.values() ?? [])
      if (claim.session !== session && claim.until > now) count++
    return count
  }

  putAccount(account: AccountRow): void {
    const before = this.#accountsById.get(account.id)
    if (before) this.#accountsByDigest.delete(before.digest)
    this.#accounts.set(canonical(account.name), account)
    this.#accountsById.set(account.id, account)
    this.#accountsByBox.set(account.box, account)
    this.#accountsByDigest.set(account.digest, account)
    for (const hear of this.#hearers) hear(account.id)
  }

  /** Its row stays known by id: old letters name it. */
  removeAccount(account: AccountRow): void {
    this.#accounts.delete(canonical(account.name))
    this.#accountsByDigest.delete(account.digest)
    this.#listeners.delete(account.id)
    for (const members of this.#members.values()) members.delete(account.id)
    for (const hear of this.#hearers) hear(account.id)
  }

  onAccount(hear: (id: number) => void): () => void {
    this.#hearers.add(hear)
    return () => this.#hearers.delete(hear)
  }

  putRoom(room: RoomRow): void {
    this.#rooms.set(canonical(room.name), room)
    this.#roomsById.set(room.id, room)
    if (!this.#members.has(room.id)) this.#members.set(room.id, new Set())
  }

  removeRoom(room: RoomRow): void {
    this.#rooms.delete(canonical(room.name))
    this.#members.delete(room.id)
  }

  join(room: number, account: number): void {
    this.#members.get(room)?.add(account)
  }

  leave(room: number, account: number): void {
    this.#members.get(room)?.delete(account)
  }

  putSession(session: SessionRow): void {
    this.#sessions.set(session.id, session)
    const own = this.#sessionsOf.get(session.account) ?? new Map<string, SessionRow>()
    this.#sessionsOf.set(session.account, own.set(session.name, session))
    // of those that shared a box by succession the newest answers for it
    const holder = this.#sessionsByBox.get(session.box)
    if (!holder || holder.id <= session.id) this.#sessionsByBox.set(session.box, session)
  }

  /** Sessions that ended before `endedBefore` ms leave the memory; the store still has them. */
  forgetSessions(endedBefore: number): void {
    for (const session of this.#sessions.values()) {
      if (session.ended === null || session.ended >= endedBefore) continue
      this.#sessions.delete(session.id)
      this.#sessionsOf.get(session.account)?.delete(session.name)
      if (this.#sessionsByBox.get(session.box) === session) this.#sessionsByBox.delete(session.box)
    }
  }

  putListener(listener: ListenerRow): void {
    this.#listeners.set(listener.account, listener)
  }

  removeListener(account: number): void {
    this.#listeners.delete(account)
  }

  putClaim(claim: Claim): void {
    const claims = this.#claims.get(claim.box) ?? new Map<number, Claim>()
    this.#claims.set(claim.box, claims.set(claim.id, claim))
  }

  removeClaim(box: number, id: number): void {
    this.#claims.get(box)?.delete(id)
  }

  removeClaimsOf(session: number): void {
    for (const claims of this.#claims.values())
      for (const claim of claims.values()) if (claim.session === session) claims.delete(claim.id)
  }
}
