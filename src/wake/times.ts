// How long the watcher waits: for a burst, for whoever reads by itself, and until it tries again.

/** Milliseconds. */
export type WakeTimes = {
  /** From a letter to its wake: whoever reads it meanwhile needs none. */
  readonly settle: number
  /** The same after a start of the mailbox: agents come back by themselves. */
  readonly startSettle: number
  /** For how long a wake speaks for what comes before the agent has read. */
  readonly cover: number
  /** How often it is looked at whether a busy agent is idle, or an agent has come. */
  readonly look: number
  /** First wait until what is due is tried again. */
  readonly retry: number
}
export const WAKE_TIMES: WakeTimes = { settle: 300, startSettle: 3_000, cover: 60_000, look: 1_000, retry: 30_000 }
