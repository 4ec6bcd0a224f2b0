// Write jobs of retention: letters whose time has come, old events, keys without a message. Each job is short; what has
// changed since it was planned is looked at again.
import { CANDIDATE, type Candidate, type Copy, Judge } from '../keeping/judge.ts'
import type { Context } from './context.ts'
import type { JobOf } from './job.ts'

export function retainer(context: Context): {
  retain(job: JobOf<'retain'>): { removed: number[] }
  forgetEvents(job: JobOf<'forgetEvents'>): { events: number }
  forgetKeys(job: JobOf<'forgetKeys'>): null
} {
  const { db } = context
  const judge = new Judge(db)
  const message = db.prepare<Candidate, [number]>(`SELECT ${CANDIDATE} WHERE m.id = ?`)
  const newest = db.prepare<{ id: number | null }, [number]>(
    'SELECT max(id) AS id FROM message WHERE thread = ? AND parent IS NOT NULL',
  )
  const dropCopy = db.prepare('DELETE FROM delivery WHERE box = ? AND closed = ? AND id = ?')
  const dropClaim = db.prepare('DELETE FROM claim WHERE box = ? AND id = ?')
  const dropMessage = db.prepare('DELETE FROM message WHERE id = ?')
  const dropSent = db.prepare(
    'DELETE FROM sent WHERE account = (SELECT account FROM message WHERE id = ?1) AND id = ?1',
  )
  const dropImported = db.prepare('DELETE FROM imported WHERE id = ?')
  const gone = db.prepare('INSERT INTO gone(message, at) VALUES(?, ?)')
  const followed = db.prepare('DELETE FROM gone WHERE id IN (SELECT id FROM gone ORDER BY id LIMIT 100) AND at < ?')
  const floor = db.prepare(
    "INSERT INTO meta(key, value) VALUES('floor', ?1) ON CONFLICT(key) DO UPDATE SET value = max(CAST(value AS INTEGER), ?1)",
  )
  const dropEvents = db.prepare(
    'DELETE FROM event WHERE id IN (SELECT id FROM event WHERE id <= ? ORDER BY id LIMIT ?)',
  )
  const dropKey = db.prepare(
    'DELETE FROM idempotency WHERE account = ? AND key = ? AND NOT EXISTS (SELECT 1 FROM message m WHERE m.id = idempotency.id)',
  )
  const dropUpsert = db.prepare(
    'DELETE FROM upsert WHERE account = ? AND box = ? AND key = ? AND NOT EXISTS (SELECT 1 FROM message m WHERE m.id = upsert.id)',
  )

  function remove({ id, senderBox }: Candidate, copies: readonly Copy[], at: number): void {
    for (const copy of copies) {
      dropCopy.run(copy.box, copy.closed, id)
      dropClaim.run(copy.box, id)
      if (copy.closed !== 0) continue
      context.counted(copy.box, -1)
      if (copy.own) context.countedOwn(senderBox, -1)
    }
    dropSent.run(id)
    dropMessage.run(id)
    dropImported.run(id)
    gone.run(id, at)
  }

  /** All of it or nothing: `ids` are the newest of the thread, or it has gone on since. */
  function removePart(thread: number, ids: readonly number[], before: number, at: number): readonly number[] {
    if ((newest.get(thread)?.id ?? thread) !== ids[0]) return NONE
    const found = ids.map((id) => message.get(id)).filter((one) => one !== null)
    const judged = found.map((one) => ({ one, ...judge.judge(one) }))
    if (judged.length < ids.length || judged.some(({ since }) => since === null || since >= before)) return NONE
    for (const { one, copies } of judged) remove(one, copies, at)
    return ids
  }

  return {
    retain(job) {
      judge.refresh()
      followed.run(job.at - FOLLOWED_MS)
      const removed = job.parts.flatMap(({ thread, ids }) => removePart(thread, ids, job.before, job.at))
      if (removed.length > 0) floor.run(Math.max(...removed))
      return { removed }
    },
    forgetEvents(job) {
      const events = dropEvents.run(job.upTo, job.limit).changes
      if (events > 0) floor.run(job.upTo)
      return { events }
    },
    forgetKeys(job) {
      for (const { account, key } of job.keys) dropKey.run(account, key)
      for (const { account, box, key } of job.upserts) dropUpsert.run(account, box, key)
      return null
    },
  }
}

const NONE: readonly number[] = []
/** The search index follows within a second; a day later it surely has. */
const FOLLOWED_MS = 86_400_000
