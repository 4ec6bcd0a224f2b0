// Write job of desktop notifications: the whole row of an account.
import type { Context } from './context.ts'
import type { JobOf } from './job.ts'

export function notifyJob({ db }: Context): (job: JobOf<'notify'>) => null {
  const put = db.prepare(
    'INSERT OR REPLACE INTO notify(account, enabled, due, shown, failure, failed) VALUES(?, ?, ?, ?, ?, ?)',
  )
  return ({ account, enabled, due, shown, failure, failed }) => {
    put.run(account, enabled === null ? null : Number(enabled), due, shown, failure, failed)
    return null
  }
}
