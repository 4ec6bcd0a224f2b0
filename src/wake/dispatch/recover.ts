// After a start of the mailbox: what an earlier one had begun is found again by its claims, before anything is started.
import type { AttemptRow } from '../../store/dispatch/rows.ts'
import type { Store } from '../../store/store.ts'
import { attemptFolder, claim, makeFolder, readClaim } from './attempt-files.ts'
import { Family } from './family.ts'
import type { Place } from './launch.ts'
import { bootId, type Instance, runs } from './proc.ts'

export type Recovered = { attempt: AttemptRow; root: Instance }

/** Nobody has this pid: the attempt is claimed by the mailbox, and no attendant ever will. */
const NOBODY = { pid: 0, start: '0' }

/** Every attempt that is written down as begun and not as ended. */
export async function recover(store: Store, place: Pick<Place, 'dataDir' | 'times'>): Promise<Recovered[]> {
  const found = await Promise.all(store.dispatches.openAttempts().map((attempt) => recoverOne(store, place, attempt)))
  return found.filter((one) => one !== null)
}

/**
 * One that was claimed is gone on with, also when it has ended since; one that was not is claimed now, so that an attendant
 * that was started a moment before the mailbox died ends at once. Null: it has ended, and its dispatch has its next attempt.
 */
export async function recoverOne(
  store: Store,
  { dataDir, times }: Pick<Place, 'dataDir' | 'times'>,
  attempt: AttemptRow,
): Promise<Recovered | null> {
  const folder = attemptFolder(dataDir, attempt.dispatch, attempt.number)
  makeFolder(folder)
  const boot = bootId()
  const held = claim(folder, { ...NOBODY, boot }) ? null : readClaim(folder)
  if (!held || held.pid === 0) {
    await end(store, attempt, 'not_started', 'the mailbox ended before it was started')
    return null
  }
  if (held.boot !== boot) {
    await end(store, attempt, 'interrupted', 'the machine was started anew')
    return null
  }
  const root = { pid: held.pid, start: held.start }
  // without its attendant there may be others of it at work
  if (!runs(root)) await new Family(attempt.run, root, times).end()
  return { attempt, root }
}

/** The dispatch stays as it is, and has its next attempt. */
async function end(
  store: Store,
  attempt: AttemptRow,
  cause: 'not_started' | 'interrupted',
  detail: string,
): Promise<void> {
  await store.dispatches.endAttempt(attempt, { cause, detail }, { ready: Date.now() }, null)
}
