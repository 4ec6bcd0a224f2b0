// What the parts of the supervisor share.
import type { Mail } from '../../engine/mail.ts'
import type { Store } from '../../store/store.ts'
import type { ActiveRuns } from './active.ts'
import type { Place } from './launch.ts'

/** Facts hold no secret and nothing of a letter. */
export type Log = (message: string, facts: Record<string, string | number>) => void

export type Shop = {
  readonly store: Store
  readonly mail: () => Mail
  readonly place: Place
  readonly active: ActiveRuns
  /** Aborted when the mailbox stops. */
  readonly stopping: AbortSignal
  /** What a dispatch is at, for people. */
  readonly say: (dispatch: number, activity: string) => void
  readonly log: Log
}
