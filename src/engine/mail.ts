// What every operation works with: the store, the parked readers, the rates, the clock; and who is calling.
import type { AccountRow, SessionRow } from '../store/rows.ts'
import type { Store } from '../store/store.ts'
import type { Explanation } from '../wire/explain.ts'
import type { Runs } from './dispatch/runs.ts'
import type { LinkSeat } from './link.ts'
import type { Rates } from './rates.ts'
import type { WakePort } from './wake/port.ts'

/** Who calls, as identity/ has proved it. Operations never look at anything else. */
export type Caller = {
  readonly account: AccountRow
  readonly session: SessionRow
  /** It only looks: nothing of it is a sign of life, and its session may be kept nowhere. */
  readonly looks?: true
  /** How identity/ came to that; put together only when it is asked for. */
  readonly explain?: () => Explanation
}

/** Readers that wait for mail; delivery/ implements it. */
export interface Parking {
  /**
   * Waits until a delivery with a sequence above `after` lands in one of `boxes`, or `ms` have passed, or `signal` aborts.
   * Resolves to true when woken. `recheck` runs once after registering, so that nothing is missed in between.
   */
  wait(boxes: readonly number[], ms: number, signal: AbortSignal, recheck: () => boolean): Promise<boolean>
  /** Readers parked on a box right now. */
  parked(box: number): number
  /** Readers parked on all boxes. */
  readonly size: number
  /** Ends the waits on a box now: what its readers may do has changed. */
  wake(box: number): void
}

export type Mail = {
  readonly store: Store
  readonly parking: Parking
  readonly rates: Rates
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Does the process instance of that session still exist? Asks the kernel. */
  readonly alive: (session: SessionRow) => boolean
  /** The daemon's own TCP port: no doorbell may ring there. */
  readonly ownPort: () => number
  /** The data folder: backups are written below it. */
  readonly dataDir: string
  /** How the doorbell of an account fares; delivery/ knows. */
  readonly bell: (account: number) => BellHealth
  readonly desktop: DesktopNotifications
  /** The agents that were started; wake/ knows. */
  readonly runs: Runs
  /** How agents are woken; wake/ knows. */
  readonly wakes: WakePort
  /** Other machines; absent where there can be none. */
  readonly link?: LinkSeat
}

/** Times are milliseconds since the epoch. */
export type BellHealth = {
  /** Rings that are due and have not succeeded yet. */
  pending: number
  lastOk: number | null
  lastError: string | null
  lastErrorAt: number | null
}

/** Desktop notifications of persons; delivery/ implements it. */
export interface DesktopNotifications {
  /** Shown and failed since the start. */
  readonly counts: { shown: number; failed: number }
  state(account: AccountRow): DesktopState
  turn(account: AccountRow, on: boolean): Promise<void>
  /** Shows one that says that it is a test. @throws Refusal `not_shown` with the reason */
  test(account: AccountRow): Promise<void>
}

/** Times are milliseconds since the epoch. */
export type DesktopState = {
  on: boolean
  through: string
  waiting: boolean
  shown: number | null
  failure: string | null
  failedAt: number | null
}

/** How a door holds a wait: its cap in seconds, and what tells that the client has left. */
export type Patience = { readonly capSeconds: number; readonly signal: AbortSignal }
