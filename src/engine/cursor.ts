// Cursors of lists: a place in the store's sequence. One of another store, or from before a restore, is refused.
import type { Store } from '../store/store.ts'
import { cursorOf, parseCursor } from '../wire/names.ts'
import { Refusal } from '../wire/refusal.ts'

/**
 * The sequence number that a request's cursor stands for; null where it has none.
 * @throws Refusal `cursor_expired`
 */
export function positionOf(store: Store, cursor: string | null | undefined): number | null {
  if (cursor == null) return null
  const { epoch, sequence } = parseCursor(cursor)
  if (epoch !== store.epoch) throw new Refusal('cursor_expired', 'this cursor is of an earlier state of the store')
  return sequence
}

/** The cursor of a page's end: the last sequence shown or passed, else what the request had. */
export const cursorAt = (store: Store, last: number | null, requested: string | null | undefined): string | null =>
  last === null ? (requested ?? null) : cursorOf(store.epoch, last)
