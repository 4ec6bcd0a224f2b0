// What has become of the letter that a dispatch is about: answered on its thread, closed, or still open.
import type { DispatchRow } from '../../store/dispatch/rows.ts'
import type { Store } from '../../store/store.ts'

export type Settled = { how: 'replied'; reply: number } | { how: 'closed' | 'open' | 'none'; reply: null }

export function settledBy(store: Store, row: DispatchRow): Settled {
  if (row.message === null || row.thread === null) return { how: 'none', reply: null }
  for (const { id, account, parent } of store.thread(row.thread, row.message))
    if (account === row.agent && parent !== null) return { how: 'replied', reply: id }
  const boxes = store.message(row.message)?.recipients.filter((to) => to.account === row.agent) ?? []
  const copy = store.delivery(
    row.message,
    boxes.map(({ box }) => box),
  )
  // who is woken to read an answer has done so once it is opened
  const isDone = copy?.closed === 1 || (row.backOf !== null && copy !== null && copy.opened !== null)
  return { how: isDone ? 'closed' : 'open', reply: null }
}
