// Wakes that have come to nothing: of which mailbox, while the letter that they stood for lies unopened.
import type { AccountRow } from '../../store/rows.ts'
import type { Store } from '../../store/store.ts'
import type { NewWake } from '../../store/wake/wakes.ts'
import type { Mail } from '../mail.ts'

/** Whose mailbox it is; undefined where the account or the session has gone. */
export function ownerOfBox({ registry }: Pick<Store, 'registry'>, box: number): AccountRow | undefined {
  const session = registry.sessionByBox(box)
  return session ? registry.accountById(session.account) : registry.accountByBox(box)
}

/** Nobody has opened it meanwhile, so the failure still matters. */
export function isUnread(store: Store, { message, box }: NewWake): boolean {
  const copy = store.delivery(message, [box])
  return copy !== null && copy.closed === 0 && copy.opened === null
}

/** As `isUnread`; and where no door was to be had, the agent still runs: one that has ended is woken when it comes back. */
export function stillFails({ store, alive }: Mail, row: NewWake): boolean {
  if (!isUnread(store, row)) return false
  const owner = ownerOfBox(store, row.box)
  return owner !== undefined && (row.outcome !== 'no_door' || store.registry.someLive(owner.id, alive))
}

/** A line for people. */
export const becauseOf = ({ outcome, tried }: NewWake): string => {
  const { door, detail } = tried.findLast((step) => step.outcome !== null) ?? tried.at(-1) ?? { door: null, detail: '' }
  return door === null ? outcome : `${outcome}, ${door}: ${detail}`
}
