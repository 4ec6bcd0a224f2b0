// Write jobs about people: aliases, who may see a private account, faults, and the mailbox itself as a sender.
import { SYSTEM, SYSTEM_DIGEST, SYSTEM_SESSION } from '../people/people.ts'
import type { Context } from './context.ts'
import type { JobOf, Results } from './job.ts'

export function peopleJobs(context: Context): {
  setAlias(job: JobOf<'setAlias'>): null
  setPrivacy(job: JobOf<'setPrivacy'>): Results['setPrivacy']
  meet(job: JobOf<'meet'>): null
  raiseFault(job: JobOf<'raiseFault'>): null
  clearFault(job: JobOf<'clearFault'>): null
  system(job: JobOf<'system'>): Results['system']
} {
  const { db } = context
  const putAlias = db.prepare('INSERT OR REPLACE INTO alias(account, name, address) VALUES(?, ?, ?)')
  const dropAlias = db.prepare('DELETE FROM alias WHERE account = ? AND name = ?')
  const hide = db.prepare('INSERT OR IGNORE INTO private(account) VALUES(?)')
  const show = db.prepare('DELETE FROM private WHERE account = ?')
  const know = db.prepare('INSERT OR IGNORE INTO known(account, peer, why) VALUES(?, ?, ?)')
  const unlist = db.prepare("DELETE FROM known WHERE account = ? AND why = 'listed'")
  // recipients are [text, kind, box, account, room]
  const wroteTo = db.prepare(
    `INSERT OR IGNORE INTO known(account, peer, why)
     SELECT m.account, to_.value ->> '$[3]', 'wrote' FROM message m, json_each(m.recipients) to_ WHERE m.account = ?`,
  )
  const peers = db.prepare<{ peer: number; why: 'wrote' | 'listed' }, [number]>(
    'SELECT peer, why FROM known WHERE account = ?',
  )
  const raise = db.prepare('INSERT OR IGNORE INTO fault(name, since, text) VALUES(?, ?, ?)')
  const clear = db.prepare('DELETE FROM fault WHERE name = ?')
  const account = db.prepare<{ id: number; box: number; created: number }, [string, string]>(
    'SELECT id, box, created FROM account WHERE name = ? AND digest = ?',
  )
  const session = db.prepare<{ id: number; box: number }, [number]>('SELECT id, box FROM session WHERE account = ?')
  const box = db.prepare<{ id: number }, []>('INSERT INTO box DEFAULT VALUES RETURNING id')
  // removed from the start, so that it is in no list and no token finds it; old letters know such accounts by their id
  const addAccount = db.prepare(
    "INSERT INTO account(name, kind, can, digest, box, created, removed) VALUES(?, 'agent', '{}', ?, ?, ?, ?)",
  )
  const addSession = db.prepare(
    `INSERT INTO session(account, name, box, instance, attested, corroborated, declared, first_seen, last_seen, ended)
     VALUES(?, ?, ?, '{}', '{}', '{}', '{}', ?, ?, ?)`,
  )

  return {
    setAlias(job) {
      if (job.address === null) dropAlias.run(job.account, job.name)
      else putAlias.run(job.account, job.name, job.address)
      return null
    },
    setPrivacy(job) {
      if (job.private === true && hide.run(job.account).changes > 0) wroteTo.run(job.account)
      if (job.private === false) show.run(job.account)
      if (job.listed !== null) {
        unlist.run(job.account)
        for (const peer of job.listed) know.run(job.account, peer, 'listed')
      }
      return { known: peers.all(job.account) }
    },
    meet(job) {
      for (const peer of job.peers) know.run(job.account, peer, 'wrote')
      return null
    },
    raiseFault(job) {
      raise.run(job.name, job.since, job.text)
      return null
    },
    clearFault(job) {
      clear.run(job.name)
      return null
    },
    system(job) {
      if (!account.get(SYSTEM, SYSTEM_DIGEST)) addAccount.run(SYSTEM, SYSTEM_DIGEST, box.get()?.id ?? 0, job.at, job.at)
      const own = account.get(SYSTEM, SYSTEM_DIGEST) ?? { id: 0, box: 0, created: job.at }
      if (!session.get(own.id)) addSession.run(own.id, SYSTEM_SESSION, box.get()?.id ?? 0, job.at, job.at, job.at)
      return { account: own, session: session.get(own.id) ?? { id: 0, box: 0 } }
    },
  }
}
