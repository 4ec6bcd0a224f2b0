// What the store knows of people beside their mail: aliases, who may see a private account, when an account was last seen,
// faults that the operator was told of, and how much went between whom.
import type { AccountRow, SessionRow } from '../rows.ts'

/** `address` as compact text, looked up when it is used. */
export type AliasRow = { readonly name: string; readonly address: string }

/** Why an account may see a private one: it was written to, or it stands on the list. */
export type Why = 'wrote' | 'listed'

/** A fault of the mailbox itself. `since` in milliseconds since the epoch. */
export type FaultRow = { readonly name: string; readonly since: number; readonly text: string }

/** What went between an account and another one, or a room (`roomPeer`), on one day (days since the epoch, UTC). Times are milliseconds, 0 for never. */
export type TrafficRow = {
  peer: number
  day: number
  sent: number
  heard: number
  lastSent: number
  lastHeard: number
}

/** How many copies of each state lie in some boxes; no state is counted further than asked. */
export type StateCounts = { new: number; opened: number; closed: number }

export interface People {
  /** By name, ascending. */
  aliases(account: number): readonly AliasRow[]
  /** Compact address; names without case. */
  alias(account: number, name: string): string | undefined
  /** `address` null removes it. */
  setAlias(account: AccountRow, name: string, address: string | null): Promise<void>

  isPrivate(account: number): boolean
  /** Has the private account written to `peer`, or is `peer` on its list? */
  isKnownTo(account: number, peer: number): boolean
  /** Accounts on the list of a private account. */
  listed(account: number): readonly number[]
  /** `listed` replaces the list; undefined members stay as they are. What it wrote to is gathered when it becomes private. */
  setPrivacy(account: AccountRow, change: { private?: boolean; listed?: readonly number[] }): Promise<void>
  /** The private account writes to `peers`; does nothing where they are known. In the commit of the send that follows, or before. */
  meet(account: number, peers: readonly number[]): void

  /** When any session of the account was last seen, in milliseconds since the epoch. */
  lastSeen(account: number): number | null

  /** Oldest first. */
  faults(): readonly FaultRow[]
  raise(fault: FaultRow): Promise<void>
  clear(name: string): Promise<void>
  /** The mailbox itself as a sender: an account that no token can be, and its one session. Made at the first use. */
  system(): Promise<{ account: AccountRow; session: SessionRow }>

  /** Everything up to the last commit, by day. */
  traffic(account: number): Promise<TrafficRow[]>
  /** Copies in `boxes`, each state counted up to `limit`. */
  counts(boxes: readonly number[], limit: number): StateCounts
}

/** The account name of the mailbox itself. No account of that name can be made. */
export const SYSTEM = 'mail4agent'
/** No SHA-256 in hex: whatever token is presented, its digest is another one. */
export const SYSTEM_DIGEST = 'none'
export const SYSTEM_SESSION = `s-${'0'.repeat(32)}`
