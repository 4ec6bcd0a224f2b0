// Counts and times of the calls: per operation, door and outcome. Kept in memory, read by /metrics.
import { Refusal } from '../../wire/refusal.ts'

/** Upper bounds of the buckets, in seconds; waits go up to a minute. */
export const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

export type DoorName = 'http' | 'mcp' | 'command'
/** `buckets` are not cumulative; one more than BOUNDS, for what took longer. */
export type Series = {
  operation: string
  door: DoorName
  outcomes: Map<string, number>
  buckets: number[]
  sum: number
}

export class Metrics {
  readonly #series = new Map<string, Series>()

  /** Runs `work` and counts it as `ok` or by the kind of its refusal. */
  async timed<T>(operation: string, door: DoorName, work: () => Promise<T>): Promise<T> {
    const began = performance.now()
    try {
      const answer = await work()
      this.answered(operation, door, began)
      return answer
    } catch (error) {
      this.refused(operation, door, began, error)
      throw error
    }
  }

  /** Counts a call that began at `began` (`performance.now()`) and was answered. */
  answered(operation: string, door: DoorName, began: number): void {
    this.#count(operation, door, 'ok', (performance.now() - began) / 1000)
  }

  /** Counts a call that ended in `error`. */
  refused(operation: string, door: DoorName, began: number, error: unknown): void {
    const outcome = error instanceof Refusal ? error.kind : 'internal'
    this.#count(operation, door, outcome, (performance.now() - began) / 1000)
  }

  all(): Iterable<Series> {
    return this.#series.values()
  }

  #count(operation: string, door: DoorName, outcome: string, seconds: number): void {
    const key = `${door} ${operation}`
    let series = this.#series.get(key)
    if (!series) {
      series = { operation, door, outcomes: new Map(), buckets: BOUNDS.map(() => 0).concat(0), sum: 0 }
      this.#series.set(key, series)
    }
    series.outcomes.set(outcome, (series.outcomes.get(outcome) ?? 0) + 1)
    const found = BOUNDS.findIndex((bound) => seconds <= bound)
    const index = found < 0 ? BOUNDS.length : found
    series.buckets[index] = (series.buckets[index] ?? 0) + 1
    series.sum += seconds
  }
}
