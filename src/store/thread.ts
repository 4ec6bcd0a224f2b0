// What the threads answer where they could not: an error thrown in a thread reaches its owner with pieces of source about it.

/** The answer of `work`, or in its place what it threw says. */
export function orReason<T extends object>(work: () => T): T | { failed: string } {
  try {
    return work()
  } catch (error) {
    return { failed: error instanceof Error ? error.message : 'unknown failure' }
  }
}
