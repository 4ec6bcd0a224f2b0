// Write job: close deliveries for a session. The table of who is settled by whose acknowledgement is in the README.

import type { DeliveryRow, EventRow } from '../rows.ts'
import { KIND } from '../rows.ts'
import type { Settled } from '../store.ts'
import type { Context } from './context.ts'
import type { JobOf, Results } from './job.ts'

type Settle = JobOf<'settle'>

/** Returns the function that closes the deliveries of one job. */
export function settler(context: Context): (job: Settle) => Results['settle'] {
  const { db } = context
  const close = db.prepare(
    'UPDATE delivery SET closed = 1, closed_at = ?1, closed_by = ?2, reason = ?3, opened = coalesce(opened, ?1), opened_by = coalesce(opened_by, ?2) WHERE box = ?4 AND closed = 0 AND id = ?5',
  )
  const claim = db.prepare<{ session: number; until: number }, [number, number, number]>(
    'SELECT session, until FROM claim WHERE box = ? AND id = ? AND until > ?',
  )
  const unclaim = db.prepare('DELETE FROM claim WHERE box = ? AND id = ?')
  const sender = db.prepare<{ account: number; box: number }, [number]>(
    'SELECT account, sender_box AS box FROM message WHERE id = ?',
  )
  const siblings = db.prepare<{ box: number }, [number, number, number]>(
    'SELECT DISTINCT box FROM session WHERE account = ? AND ended IS NULL AND box <> ? AND box <> ?',
  )
  const leave = db.prepare(
    'INSERT OR IGNORE INTO delivery(box, closed, id, kind, room, notified) VALUES(?, 0, ?, 2, ?, ?)',
  )

  /** The first close of a room letter: the sibling sessions that live now keep a copy of their own. */
  function keepForSiblings(job: Settle, copy: DeliveryRow, senderBox: number): void {
    for (const { box } of siblings.all(job.reader.account, job.reader.sessionBox, senderBox))
      if (leave.run(box, copy.id, copy.room, copy.notified).changes > 0) context.counted(box, 1)
  }

  function one(job: Settle, id: number, events: EventRow[]): Settled {
    const { reader, at } = job
    const copy = context.copy(reader.sessionBox, id) ?? context.copy(reader.accountBox, id)
    if (!copy) return { id, ok: false, why: 'unknown' }
    const from = copy.kind === KIND.room ? sender.get(id) : null
    if (from && from.box === reader.sessionBox) return { id, ok: false, why: 'unknown' }
    if (copy.closed === 1) return { id, ok: true, at: copy.closedAt ?? at, first: false }
    if (copy.kind === KIND.account) {
      const held = claim.get(copy.box, id, at)
      if (held && held.session !== reader.session)
        return { id, ok: false, why: 'claimed', claim: { box: copy.box, id, ...held } }
      if (held) unclaim.run(copy.box, id)
    }
    close.run(at, reader.session, job.reason, copy.box, id)
    context.counted(copy.box, -1)
    if (from && copy.box === reader.accountBox) {
      if (from.account === reader.account) context.countedOwn(from.box, -1)
      keepForSiblings(job, copy, from.box)
    }
    events.push(context.event(job.events + events.length, at, 'closed', id, reader.account, reader.session, job.reason))
    return { id, ok: true, at, first: true }
  }

  return (job) => {
    const events: EventRow[] = []
    return { settled: job.ids.map((id) => one(job, id, events)), events }
  }
}
