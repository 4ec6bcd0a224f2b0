// What operations ask of the part that wakes agents; wake/ implements it.
import type { AccountRow, SessionRow } from '../../store/rows.ts'
import type { OperationName } from '../../wire/operations.ts'
import type { KeptKey, PlannedDoor, StandByAnswer, StandByRequest, WakeOutcome } from '../../wire/wake.ts'
import type { Caller } from '../mail.ts'

/** At which moment of a client one of its hooks asked for news. */
export type HookMoment = 'start' | 'prompt' | 'tool' | 'stop'

export type WakeTest = {
  outcome: WakeOutcome
  door: string | null
  ms: number
  tried: { door: string; session: string | null; outcome: WakeOutcome | null; detail: string; ms: number }[]
}

export interface WakePort {
  /** Names of all doors. */
  readonly doors: readonly string[]
  /** Nobody is woken, whatever the policies say. */
  readonly silent: boolean
  /** Holds a door of the caller's session open for at most `ms`; answers what is to start a turn, once there is something. */
  standBy(caller: Caller, request: StandByRequest, ms: number, signal: AbortSignal): Promise<StandByAnswer>
  /** The session calls: it is at work. */
  heard(session: SessionRow, operation: OperationName): void
  /** A hook of the session has told it of all mail up to `told`, or had nothing to tell. */
  hooked(session: SessionRow, moment: HookMoment, told: number): void
  /** The hop of the mail that started the turn which the session is in; null where it was not mail. */
  hop(session: SessionRow): number | null
  /** Where the keys of the account's doors lie; neither address nor key. */
  keys(account: string): KeptKey[]
  /** Each door of a session, or of an account and all its sessions, in the order in which they would be tried. */
  plan(account: AccountRow, session: SessionRow | null): Promise<PlannedDoor[]>
  /** Goes through the doors now with a text that says that it is a test. */
  test(account: AccountRow, session: SessionRow | null): Promise<WakeTest>
  /** Letters of a mailbox that were to wake somebody and have not yet. */
  due(box: number): number
}

/** A mailbox that wakes nobody. */
export const noWakes: WakePort = {
  doors: [],
  silent: true,
  standBy: async () => ({ wake: null, taken: false }),
  heard() {},
  hooked() {},
  hop: () => null,
  keys: () => [],
  plan: async () => [],
  test: async () => ({ outcome: 'no_door', door: null, ms: 0, tried: [] }),
  due: () => 0,
}
