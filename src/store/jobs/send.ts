// Write job: store a message with its deliveries; keys, superseding and closing the original in the same transaction.

import { dispatchInserter } from '../dispatch/jobs.ts'
import { recipientsOf } from '../recipients.ts'
import type { EventRow } from '../rows.ts'
import { KIND } from '../rows.ts'
import type { Context } from './context.ts'
import type { JobOf, Results } from './job.ts'
import { opener } from './open.ts'
import { settler } from './settle.ts'

type Send = JobOf<'send'>

/** Returns the function that runs one send. */
export function sender(context: Context): (job: Send) => Results['send'] {
  const { db } = context
  const known = db.prepare<{ id: number; hash: string; created: number }, [number, string]>(
    'SELECT i.id, i.hash, m.created FROM idempotency i JOIN message m ON m.id = i.id WHERE i.account = ? AND i.key = ?',
  )
  // a key whose message has been removed is free again
  const remember = db.prepare('INSERT OR REPLACE INTO idempotency(account, key, id, hash) VALUES(?, ?, ?, ?)')
  const message = db.prepare('INSERT INTO message VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const delivery = db.prepare('INSERT INTO delivery(box, closed, id, kind, room, updates) VALUES(?, 0, ?, ?, ?, ?)')
  const step = db.prepare('INSERT OR IGNORE INTO clock_step(id) VALUES(?)')
  const earlier = db.prepare<{ id: number; updates: number }, [number, number, string]>(
    'SELECT id, updates FROM upsert WHERE account = ? AND box = ? AND key = ?',
  )
  const upsert = db.prepare('INSERT OR REPLACE INTO upsert VALUES(?, ?, ?, ?, ?)')
  const supersede = db.prepare(
    "UPDATE delivery SET closed = 1, closed_at = ?, reason = 'superseded' WHERE box = ? AND closed = 0 AND id = ?",
  )
  const unclaim = db.prepare('DELETE FROM claim WHERE box = ? AND id = ?')
  /** Copies of a room letter that stayed open for single sessions after the first close. */
  const siblingCopies = db.prepare<{ box: number }, [number, number, number]>(
    "UPDATE delivery SET closed = 1, closed_at = ?, reason = 'superseded' WHERE closed = 0 AND id = ? AND box IN (SELECT box FROM session WHERE account = ?) RETURNING box",
  )
  const senderBox = db.prepare<{ box: number }, [number]>('SELECT sender_box AS box FROM message WHERE id = ?')
  const settle = settler(context)
  const { open } = opener(context)
  const dispatch = dispatchInserter(context)

  return (job) => {
    const { reader, idempotency, upsert: key } = job
    if (idempotency) {
      const before = known.get(reader.account, idempotency.key)
      if (before) {
        const conflict = before.hash !== idempotency.hash
        return {
          id: before.id,
          created: before.created,
          duplicate: !conflict,
          conflict,
          superseded: 0,
          quiet: [],
          closed: false,
          dispatch: null,
          events: [],
        }
      }
      remember.run(reader.account, idempotency.key, job.id, idempotency.hash)
    }
    const events: EventRow[] = []
    const quiet: number[] = []
    let superseded = 0
    let next = job.events
    message.run(
      job.id,
      job.random,
      reader.account,
      reader.sessionBox,
      job.scope,
      job.thread || job.id,
      job.parent,
      job.at,
      job.hop,
      job.recipients,
      job.json,
    )
    context.sent.sent()
    if (job.clockStep) step.run(job.id)
    for (const to of recipientsOf(job.recipients)) {
      let updates = 0
      if (key !== null) {
        const last = earlier.get(reader.account, to.box, key)
        const copy = last ? context.copy(to.box, last.id) : null
        if (last && copy) updates = last.updates + 1
        if (last && copy && copy.closed === 0) {
          supersede.run(job.at, to.box, last.id)
          unclaim.run(to.box, last.id)
          context.counted(to.box, -1)
          if (copy.kind === KIND.room && to.account === reader.account)
            context.countedOwn(senderBox.get(last.id)?.box ?? 0, -1)
          events.push(context.event(next++, job.at, 'closed', last.id, to.account, null, 'superseded'))
          superseded++
          if (copy.opened === null) quiet.push(to.box)
        }
        if (last && copy?.kind === KIND.room)
          for (const { box } of siblingCopies.all(job.at, last.id, to.account)) context.counted(box, -1)
        upsert.run(reader.account, to.box, key, job.id, updates)
      }
      delivery.run(to.box, job.id, to.kind, to.room, updates)
      context.counted(to.box, 1)
      if (to.kind === KIND.room && to.account === reader.account) context.countedOwn(reader.sessionBox, 1)
    }
    let closed = false
    if (job.close !== null) {
      const done = settle({ k: 'settle', reader, ids: [job.close], reason: 'replied', at: job.at, events: next })
      closed = done.settled.some((one) => one.ok)
      events.push(...done.events)
    }
    if (job.open !== null) events.push(...open({ k: 'open', reader, ids: [job.open], at: job.at, events: next }).events)
    const asked = job.dispatch
    const dispatched = asked ? dispatch({ ...asked, message: job.id, thread: job.thread || job.id }, job.at) : null
    if (asked && dispatched !== null) {
      const about = { dispatch: dispatched, agent: asked.agent, message: job.id }
      events.push(context.dispatchEvent(job.events + events.length, job.at, 'dispatch_queued', about))
    }
    return {
      id: job.id,
      created: job.at,
      duplicate: false,
      conflict: false,
      superseded,
      quiet,
      closed,
      dispatch: dispatched,
      events,
    }
  }
}
