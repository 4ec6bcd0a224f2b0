// Whom the end of a dispatch is news to: the person who asked for it, or operators where an agent did.
import { type DispatchRow, isFailed } from '../../store/dispatch/rows.ts'
import type { AccountRow } from '../../store/rows.ts'
import type { Store } from '../../store/store.ts'
import type { Ended } from './news.ts'

/** Null while it is not done, and where somebody stopped it: who did that knows, and the dispatcher has a letter. */
export function endOf(store: Store, row: DispatchRow): Ended | null {
  if (row.state !== 'done' || row.outcome === null || row.outcome === 'stopped') return null
  return { agent: store.registry.accountById(row.agent)?.name ?? 'an agent', failed: isFailed(row.outcome) }
}

export function toldOf(store: Store, row: DispatchRow): AccountRow[] {
  const by = store.registry.accountById(row.by)
  if (by && (by.kind === 'person' || by.can.operator)) return [by]
  return store.registry.accounts().filter(({ can }) => can.operator)
}
