// Write job: letters that come from elsewhere, with the states that they had there. All of a batch or none.
import { recipientsText } from '../recipients.ts'
import type { Context } from './context.ts'
import type { JobOf } from './job.ts'

export function importer(context: Context): (job: JobOf<'import'>) => null {
  const { db } = context
  const message = db.prepare('INSERT INTO message VALUES(?, ?, ?, 0, 0, ?, ?, ?, ?, ?, ?)')
  const delivery = db.prepare(
    'INSERT INTO delivery(box, closed, id, kind, room, notified, opened, closed_at, reason, updates) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const imported = db.prepare('INSERT INTO imported(id, at, key) VALUES(?, ?, ?)')
  const thread = db.prepare('INSERT OR IGNORE INTO imported_thread(key, thread) VALUES(?, ?)')
  const step = db.prepare('INSERT OR IGNORE INTO clock_step(id) VALUES(?)')

  return ({ letters, at }) => {
    for (const one of letters) {
      message.run(
        one.id,
        one.random,
        one.account,
        one.thread,
        one.parent,
        one.created,
        one.hop,
        recipientsText(one.copies),
        one.json,
      )
      context.sent.sent()
      imported.run(one.id, at, one.key)
      if (one.threadKey !== null) thread.run(one.threadKey, one.thread)
      if (one.step) step.run(one.id)
      for (const to of one.copies) {
        delivery.run(
          to.box,
          to.closed,
          one.id,
          to.kind,
          to.room,
          to.notified,
          to.opened,
          to.closedAt,
          to.reason,
          to.updates,
        )
        if (to.closed === 0) context.counted(to.box, 1)
      }
    }
    return null
  }
}
