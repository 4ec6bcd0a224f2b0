// The pace of work that nobody waits for: short steps, and rests between them.

/** Milliseconds between two steps at least; and a step is followed by so many times its own length. */
const PAUSE_MS = 5
const PAUSE_FACTOR = 1

/** Lets others in: after each step it rests as long as the step took. */
export class Pace {
  #began = performance.now()

  async wait(): Promise<void> {
    const took = performance.now() - this.#began
    await Bun.sleep(Math.max(PAUSE_MS, Math.min(1_000, took * PAUSE_FACTOR)))
    this.#began = performance.now()
  }
}
