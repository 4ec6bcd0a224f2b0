// What the store keeps of wakes: policies as text, what became of each wake, and what mail still has to wake somebody.

/** As it was written; whoever reads it checks it, so that a damaged one is seen as such. */
export type StoredPolicy = { policy: string; changed: number }

/** One door of a wake: `outcome` null where it was not tried. `detail` holds no URL, key or text of mail. */
export type Tried = { door: string; session: string | null; outcome: string | null; detail: string; ms: number }

/** One wake of one mailbox. `message`: the newest letter that it stood for; `door`: where the chain ended, or null. */
export type WakeRow = {
  id: number
  box: number
  message: number
  count: number
  outcome: string
  door: string | null
  at: number
  /** Milliseconds from the first door to the outcome. */
  ms: number
  tried: Tried[]
}

/**
 * A door said no or nothing came back, or no door of a session that lives was to be had. That an agent does not run is no
 * failure.
 */
export const isFailed = ({ outcome, tried }: Pick<WakeRow, 'outcome' | 'tried'>): boolean =>
  outcome === 'refused' ||
  outcome === 'unknown' ||
  (outcome === 'no_door' && tried.some(({ session }) => session !== null))

/** Letters of `box` from `first` on have not woken anybody yet, except `refused`, which never will. */
export type Due = { box: number; first: number; refused: number[] }
