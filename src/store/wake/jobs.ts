// Write jobs of wakes: policies, the bounded log, what is due.
import type { Context } from '../jobs/context.ts'
import type { Due, WakeRow } from './rows.ts'

export type WakeJob =
  | { k: 'wakePolicy'; box: number; policy: string | null; at: number }
  | { k: 'wakeLogged'; row: Omit<WakeRow, 'id'> }
  | { k: 'wakeDue'; due: Due }
  | { k: 'wakeNotDue'; box: number }

export type WakeResults = { wakePolicy: null; wakeLogged: null; wakeDue: null; wakeNotDue: null }

/** Wakes kept for one mailbox. */
export const LOGGED = 100

export function wakeJobs({ db }: Context): (job: WakeJob) => null {
  const put = db.prepare('INSERT OR REPLACE INTO wake_policy(box, policy, changed) VALUES(?, ?, ?)')
  const drop = db.prepare('DELETE FROM wake_policy WHERE box = ?')
  const log = db.prepare(
    'INSERT INTO wake(box, message, count, outcome, door, at, ms, tried) VALUES(?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const trim = db.prepare(
    `DELETE FROM wake WHERE box = ?1 AND id <= (SELECT id FROM wake WHERE box = ?1 ORDER BY id DESC LIMIT 1 OFFSET ${LOGGED})`,
  )
  const due = db.prepare('INSERT OR REPLACE INTO wake_due(box, first, refused) VALUES(?, ?, ?)')
  const notDue = db.prepare('DELETE FROM wake_due WHERE box = ?')
  return (job) => {
    switch (job.k) {
      case 'wakePolicy':
        if (job.policy === null) drop.run(job.box)
        else put.run(job.box, job.policy, job.at)
        return null
      case 'wakeLogged': {
        const { box, message, count, outcome, door, at, ms, tried } = job.row
        log.run(box, message, count, outcome, door, at, ms, JSON.stringify(tried))
        trim.run(box)
        return null
      }
      case 'wakeDue':
        due.run(job.due.box, job.due.first, JSON.stringify(job.due.refused))
        return null
      case 'wakeNotDue':
        notDue.run(job.box)
        return null
    }
  }
}
