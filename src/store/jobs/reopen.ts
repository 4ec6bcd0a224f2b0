// Write job: put closed deliveries back for a session.

import type { EventRow } from '../rows.ts'
import { KIND } from '../rows.ts'
import type { Settled } from '../store.ts'
import type { Context } from './context.ts'
import type { JobOf, Results } from './job.ts'

type Reopen = JobOf<'reopen'>

export function reopener(context: Context): (job: Reopen) => Results['reopen'] {
  const { db } = context
  const reopen = db.prepare(
    'UPDATE delivery SET closed = 0, closed_at = NULL, closed_by = NULL, reason = NULL WHERE box = ? AND closed = 1 AND id = ?',
  )
  const own = db.prepare(
    'INSERT INTO delivery(box, closed, id, kind, room, notified, opened, opened_by) VALUES(?, 0, ?, 2, ?, ?, ?, ?)',
  )
  const sender = db.prepare<{ box: number }, [number]>('SELECT sender_box AS box FROM message WHERE id = ?')
  const member = db.prepare<{ room: number }, [number, number]>(
    'SELECT room FROM member WHERE room = ? AND account = ?',
  )

  function one(job: Reopen, id: number, events: EventRow[]): Settled {
    const { reader, at } = job
    const copy = context.copy(reader.sessionBox, id) ?? context.copy(reader.accountBox, id)
    if (!copy) return { id, ok: false, why: 'unknown' }
    if (copy.kind === KIND.room && sender.get(id)?.box === reader.sessionBox) return { id, ok: false, why: 'unknown' }
    // who has left meanwhile sees none of its letters, and none may count
    if (copy.kind === KIND.room && !member.get(copy.room, reader.account)) return { id, ok: false, why: 'unknown' }
    if (copy.closed === 0) return { id, ok: false, why: 'not_closed' }
    if (copy.kind === KIND.room && copy.box === reader.accountBox) {
      // the account's record stays closed; only this session sees the letter again
      own.run(reader.sessionBox, id, copy.room, copy.notified, copy.opened, copy.openedBy)
      context.counted(reader.sessionBox, 1)
    } else {
      reopen.run(copy.box, id)
      context.counted(copy.box, 1)
    }
    events.push(context.event(job.events + events.length, at, 'reopened', id, reader.account, reader.session, null))
    return { id, ok: true, at, first: true }
  }

  return (job) => {
    const events: EventRow[] = []
    return { settled: job.ids.map((id) => one(job, id, events)), events }
  }
}
