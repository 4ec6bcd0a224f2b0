// A mailbox in memory with one operator, for the tests of the registry.

import { Waiters } from '../../../../src/delivery/waiters.ts'
import { administer } from '../../../../src/engine/admin/admin.ts'
import { noRuns } from '../../../../src/engine/dispatch/runs.ts'
import type { Caller, Mail } from '../../../../src/engine/mail.ts'
import { Rates } from '../../../../src/engine/rates.ts'
import { noWakes } from '../../../../src/engine/wake/port.ts'
import { openStore } from '../../../../src/store/open.ts'
import type { AdminAnswer, AdminRequest, AdminRoute } from '../../../../src/wire/admin.ts'
import { Refusal } from '../../../../src/wire/refusal.ts'
import { noDesktop } from '../../../support/no-desktop.ts'
import { addAccount, addSession } from '../../../support/population.ts'

export const OWN_PORT = 18_301

export async function openOffice(dataDir = '/nonexistent') {
  const store = await openStore(':memory:')
  const gone = new Set<number>()
  const mail: Mail = {
    store,
    parking: new Waiters(store),
    rates: new Rates(),
    now: Date.now,
    alive: (session) => !gone.has(session.id),
    ownPort: () => OWN_PORT,
    dataDir,
    bell: () => ({ pending: 2, lastOk: null, lastError: 'connection refused', lastErrorAt: 0 }),
    desktop: noDesktop,
    runs: noRuns('a test'),
    wakes: noWakes,
  }
  const account = await addAccount(store, 'operator', { operator: true })
  const operator: Caller = { account, session: await addSession(store, account) }
  return {
    mail,
    store,
    operator,
    /** Sessions whose process is gone. */
    gone,
    run<R extends AdminRoute>(route: R, request: AdminRequest<R>, caller = operator): Promise<AdminAnswer<R>> {
      return administer(mail, route, caller, request)
    },
    close: () => store.close(),
  }
}

/** The refusal that a promise ends with. */
export async function refusal(promise: Promise<unknown>): Promise<Refusal> {
  const error = await promise.then(
    () => null,
    (caught: unknown) => caught,
  )
  if (error instanceof Refusal) return error
  throw error ?? new Error('it was not refused')
}
