// What operations ask of the supervisor of started agents; wake/ implements it.
import type { Caller } from '../mail.ts'

/** The run that a caller belongs to: the dispatch, and how deep and how often its mail has gone on. */
export type Run = { readonly dispatch: number; readonly depth: number; readonly hop: number }

export type Output = { text: string; offset: number; more: boolean }

export interface Runs {
  /** Why nothing can be started here; null: it can. */
  readonly unavailable: string | null
  /** Of which run the caller's process is a part, as the kernel shows it: not what it says. */
  of(caller: Caller): Run | null
  /** What a running dispatch is at. */
  activity(dispatch: number): string | null
  /** What an attempt printed from byte `offset` on, at most `limit` bytes, without secrets. */
  output(dispatch: number, attempt: number, stream: 'out' | 'err', offset: number, limit: number): Output
  /** Somebody wants dispatch `id` to end, or may want others to begin: look now. */
  look(): void
}

/** A mailbox that starts nobody. */
export const noRuns = (unavailable: string): Runs => ({
  unavailable,
  of: () => null,
  activity: () => null,
  output: () => ({ text: '', offset: 0, more: false }),
  look() {},
})
