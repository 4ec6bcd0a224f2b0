// Write job: take account mail for a while, so that sibling sessions leave it alone; or give it back.
import { KIND } from '../rows.ts'
import type { Settled } from '../store.ts'
import type { Context } from './context.ts'
import type { JobOf, Results } from './job.ts'

type Claiming = JobOf<'claim'>

export function claimer(context: Context): (job: Claiming) => Results['claim'] {
  const { db } = context
  const held = db.prepare<{ session: number; until: number }, [number, number, number]>(
    'SELECT session, until FROM claim WHERE box = ? AND id = ? AND until > ?',
  )
  const take = db.prepare('INSERT OR REPLACE INTO claim(box, id, session, until) VALUES(?, ?, ?, ?)')
  const give = db.prepare('DELETE FROM claim WHERE box = ? AND id = ?')

  function one(job: Claiming, id: number): Settled {
    const { reader } = job
    const copy = context.copy(reader.accountBox, id) ?? context.copy(reader.sessionBox, id)
    if (!copy) return { id, ok: false, why: 'unknown' }
    if (copy.kind !== KIND.account || copy.closed !== 0) return { id, ok: false, why: 'not_claimable' }
    const claim = held.get(copy.box, id, job.at)
    if (claim && claim.session !== reader.session)
      return { id, ok: false, why: 'claimed', claim: { box: copy.box, id, ...claim } }
    if (job.until === 0) give.run(copy.box, id)
    else take.run(copy.box, id, reader.session, job.until)
    return { id, ok: true, at: job.at, first: !claim }
  }

  return (job) => ({ settled: job.ids.map((id) => one(job, id)) })
}
