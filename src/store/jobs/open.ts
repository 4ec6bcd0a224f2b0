// Write jobs: mark deliveries as opened by a session, or as notified. Neither closes anything.
import type { EventRow } from '../rows.ts'
import type { Context } from './context.ts'
import { type JobOf, OPEN_BATCH, type Results } from './job.ts'

export function opener(context: Context): {
  open(job: JobOf<'open'>): Results['open']
  openUpTo(job: JobOf<'openUpTo'>): Results['openUpTo']
  notified(job: JobOf<'notified'>): null
} {
  const { db } = context
  const open = db.prepare(
    'UPDATE delivery SET opened = ?1, opened_by = ?2, notified = coalesce(notified, ?1) WHERE box = ?3 AND closed = 0 AND id = ?4 AND opened IS NULL',
  )
  const shown = db.prepare<{ id: number }, [number, number, number, number, number]>(
    `SELECT d.id FROM delivery d JOIN message m ON m.id = d.id
     WHERE d.box = ? AND d.closed = 0 AND d.id > ? AND d.id <= ? AND d.opened IS NULL AND NOT (d.kind = 2 AND m.sender_box = ?) ORDER BY d.id LIMIT ?`,
  )
  const notify = db.prepare(
    'UPDATE delivery SET notified = ? WHERE box = ? AND closed IN (0, 1) AND id = ? AND notified IS NULL',
  )

  function mark(job: JobOf<'open'> | JobOf<'openUpTo'>, box: number, id: number, events: EventRow[]): void {
    const { reader, at } = job
    if (open.run(at, reader.session, box, id).changes === 0) return
    events.push(context.event(job.events + events.length, at, 'opened', id, reader.account, reader.session, null))
  }

  return {
    open(job) {
      const events: EventRow[] = []
      for (const id of job.ids) {
        mark(job, job.reader.sessionBox, id, events)
        mark(job, job.reader.accountBox, id, events)
      }
      return { events }
    },
    openUpTo(job) {
      const { sessionBox, accountBox } = job.reader
      const events: EventRow[] = []
      const except = new Set(job.except)
      let reached = job.upTo
      for (const box of [sessionBox, accountBox]) {
        const rows = shown.all(box, job.from, job.upTo, sessionBox, OPEN_BATCH / 2)
        if (rows.length === OPEN_BATCH / 2) reached = Math.min(reached, rows.at(-1)?.id ?? reached)
        for (const { id } of rows) if (!except.has(id)) mark(job, box, id, events)
      }
      return { events, reached }
    },
    notified(job) {
      for (const id of job.ids) notify.run(job.at, job.box, id)
      return null
    },
  }
}
