// Write jobs of sessions: register (a successor takes over its predecessor's box), refresh, declare, end, release its letters.

import type { EventRow } from '../rows.ts'
import { KIND } from '../rows.ts'
import type { Context } from './context.ts'
import type { JobOf, Results } from './job.ts'

export function sessionJobs(context: Context): {
  addSession(job: JobOf<'addSession'>): Results['addSession']
  touch(job: JobOf<'touch'>): null
  declare(job: JobOf<'declare'>): null
  endSession(job: JobOf<'endSession'>): null
  release(job: JobOf<'release'>): Results['release']
} {
  const { db } = context
  const box = db.prepare<{ id: number }, []>('INSERT INTO box DEFAULT VALUES RETURNING id')
  const same = db.prepare<{ id: number; box: number; given: number; opened: number; told: number }, [number, string]>(
    'SELECT id, box, given, opened, told FROM session WHERE account = ? AND name = ?',
  )
  /** Atomic claim of the one succession: nobody gets it twice. */
  const heir = db.prepare<{ box: number; given: number; opened: number; told: number }, [number, number]>(
    'SELECT box, given, opened, told FROM session WHERE id = ? AND account = ? AND ended IS NOT NULL AND successor IS NULL',
  )
  const insert = db.prepare<{ id: number }, (string | number | null)[]>(
    `INSERT INTO session(account, name, box, instance, conversation, provider_session, attested, corroborated, declared, first_seen, last_seen, given, opened, told)
     VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
  )
  const succeeded = db.prepare('UPDATE session SET successor = ? WHERE id = ?')
  const touch = db.prepare(
    'UPDATE session SET last_seen = max(last_seen, ?), given = max(given, ?), opened = max(opened, ?), told = max(told, ?), provider_session = ?, attested = ?, corroborated = ? WHERE id = ?',
  )
  const declare = db.prepare('UPDATE session SET declared = ? WHERE id = ?')
  const end = db.prepare('UPDATE session SET ended = ? WHERE id = ? AND ended IS NULL')
  const seen = db.prepare(
    `INSERT INTO seen SELECT account, last_seen FROM session WHERE id = ?
     ON CONFLICT(account) DO UPDATE SET at = max(at, excluded.at)`,
  )
  const unclaim = db.prepare('DELETE FROM claim WHERE session = ?')
  const letters = db.prepare<{ id: number }, [number]>(
    'SELECT id FROM delivery WHERE box = ? AND closed = 0 AND kind = 1',
  )
  const move = db.prepare(
    // its account was not told of it yet
    'UPDATE delivery SET box = ?, kind = ?, notified = NULL WHERE box = ? AND closed = 0 AND id = ?',
  )
  const drop = db.prepare('DELETE FROM delivery WHERE box = ? AND closed = 0 AND id = ?')

  return {
    addSession(job) {
      const before = same.get(job.account, job.name)
      if (before) return { ...before, predecessor: null }
      const inherited = job.predecessor === null ? null : heir.get(job.predecessor, job.account)
      const mine = inherited ?? { box: box.get()?.id ?? 0, given: 0, opened: 0, told: 0 }
      const row = insert.get(
        job.account,
        job.name,
        mine.box,
        JSON.stringify(job.instance),
        job.conversation,
        job.providerSession,
        job.attested,
        job.corroborated,
        '{"working_on":null,"role":null,"parent":null}',
        job.at,
        job.at,
        mine.given,
        mine.opened,
        mine.told,
      )
      const id = row?.id ?? 0
      if (inherited && job.predecessor !== null) succeeded.run(id, job.predecessor)
      return { id, ...mine, predecessor: inherited ? job.predecessor : null }
    },
    touch(job) {
      for (const s of job.sessions)
        touch.run(s.lastSeen, s.given, s.opened, s.told, s.providerSession, s.attested, s.corroborated, s.id)
      return null
    },
    declare(job) {
      declare.run(JSON.stringify(job.declared), job.session)
      return null
    },
    endSession(job) {
      end.run(job.at, job.session)
      seen.run(job.session)
      unclaim.run(job.session)
      return null
    },
    release(job) {
      const events: EventRow[] = []
      const all = letters.all(job.from)
      for (const { id } of all) {
        // sent to two sessions of the account, and released from the other one before
        if (context.copy(job.to, id)) {
          drop.run(job.from, id)
          continue
        }
        move.run(job.to, KIND.account, job.from, id)
        events.push(context.event(job.events + events.length, job.at, 'released', id, job.account, job.session, null))
      }
      context.counted(job.from, -all.length)
      context.counted(job.to, events.length)
      return { count: events.length, events }
    },
  }
}
