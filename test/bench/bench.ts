// What a suite is given and what it hands in: rows of figures, gated values, honesty checks, and what was skipped.
import type { GateName } from './gates.ts'
import type { Plan } from './rounds.ts'
import { type Spread, spread } from './stats.ts'

export type Row = { suite: string; what: string; unit: string } & Spread
export type Held = { gate: GateName } & Spread
export type Honesty = { what: string; ok: boolean; seen: string }

export class Bench {
  readonly rows: Row[] = []
  readonly held: Held[] = []
  readonly honesty: Honesty[] = []
  readonly skipped: { what: string; why: string }[] = []

  constructor(
    /** A folder on a disk, for this run alone. */
    readonly folder: string,
    readonly plan: Plan,
    readonly quick: boolean,
    /** A checkout of claude-peers; null where none was given. */
    readonly peers: string | null = null,
  ) {}

  row(suite: string, what: string, unit: string, values: readonly number[]): void {
    this.rows.push({ suite, what, unit, ...spread(values) })
  }

  /** A value for each round; nothing is held where there is none: a peer was missing. */
  hold(gate: GateName, values: readonly number[]): void {
    if (values.length > 0) this.held.push({ gate, ...spread(values) })
  }

  honest(what: string, ok: boolean, seen: string): void {
    this.honesty.push({ what, ok, seen })
  }

  skip(what: string, why: string): void {
    this.skipped.push({ what, why })
  }
}
