// Random numbers that one seed repeats: of what a test does to a store, a connection or a text.
export class Random {
  #state: number

  constructor(readonly seed: number) {
    this.#state = seed >>> 0
  }

  /** At least 0, below 1: mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number, at least 0, below `limit`. */
  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  pick<T>(list: readonly T[]): T {
    const one = list[this.below(list.length)]
    if (one === undefined) throw new Error('nothing to pick from')
    return one
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)))
  }
}

/** `M4A_SEED`, or `usual`: what CI runs is the same every time. */
export const seedFrom = (usual: number): number => Number(process.env.M4A_SEED ?? usual)
