// Ending the sessions whose process is gone, and forgetting what was known of ended processes.
import type { Attestor, Instance } from '../attest/attestor.ts'
import type { SessionRow } from '../store/rows.ts'
import type { Store } from '../store/store.ts'
import type { Callers } from './callers.ts'
import type { Holders } from './holders.ts'

type Swept = {
  store: Store
  attestor: Attestor
  holders: Holders
  callers: Callers
  alive: (session: SessionRow) => boolean
}

/** One round. A session that the store could not end now is met again in the next round. */
export async function sweepOnce({ store, attestor, holders, callers, alive }: Swept): Promise<void> {
  const gone = store.registry.liveSessions().filter((session) => !alive(session))
  await Promise.allSettled(gone.map((session) => store.endSession(session)))
  const isGone = (instance: Instance) => !attestor.alive(instance)
  callers.prune(isGone)
  holders.prune(isGone)
}
