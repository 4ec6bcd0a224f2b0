// Which wakes are news, and to whom: operators hear who was woken, who needs its user for that, and who could not be woken.
import { ownerOfBox } from '../../engine/wake/failing.ts'
import type { AccountRow } from '../../store/rows.ts'
import type { Store } from '../../store/store.ts'
import { isFailed } from '../../store/wake/rows.ts'
import type { NewWake } from '../../store/wake/wakes.ts'
import type { Wake } from './news.ts'

/** Null where nobody was woken and nothing is wrong: the agent does not run, or finds its mail with its next turn. */
export function wakeOf(store: Store, row: NewWake): Wake | null {
  const state = stateOf(row)
  const agent = ownerOfBox(store, row.box)
  return state === null || agent === undefined ? null : { agent: agent.name, state }
}

function stateOf(row: NewWake): Wake['state'] | null {
  if (isFailed(row)) return 'failed'
  if (row.outcome === 'held') return 'held'
  return row.outcome === 'started' || row.outcome === 'queued' ? 'woken' : null
}

/** Those who may do something about it; whom the wake is of has noticed it. */
export const operatorsBut = ({ registry }: Store, agent: string): AccountRow[] =>
  registry.accounts().filter(({ can, name }) => can.operator && name !== agent)
