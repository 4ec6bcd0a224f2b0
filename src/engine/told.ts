// The first time that somebody was told of letters: marked, and not waited for.
import type { PageRow } from '../store/rows.ts'
import type { Mail } from './mail.ts'

export function tellNotified(mail: Mail, rows: readonly PageRow[]): void {
  const boxes = new Map<number, number[]>()
  for (const row of rows) {
    if (row.notified !== null) continue
    const ids = boxes.get(row.box)
    if (ids) ids.push(row.id)
    else boxes.set(row.box, [row.id])
  }
  for (const [box, ids] of boxes) mail.store.notified(box, ids)
}
