// What is kept how long. Mail that nobody has acknowledged is kept for ever, whatever is set here.

/** Days; null: for ever. */
export type Policy = {
  /** From the moment when the last of a conversation was closed. */
  readonly closedDays: number | null
  /** What happened to mail, for those who follow /events. */
  readonly eventsDays: number | null
}

export const DEFAULT_POLICY: Policy = { closedDays: 90, eventsDays: 30 }

/** A repeated send has to be known as one for that long, and it is known by its message. */
export const LEAST_DAYS = 30

const DAY = 86_400_000

/** The time before which something has to lie to go, in ms since the epoch; null where nothing goes. */
export const cutoff = (days: number | null, now: number): number | null => (days === null ? null : now - days * DAY)
