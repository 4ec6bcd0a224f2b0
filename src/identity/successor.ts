// A resumed agent keeps its mail: the ended session whose mailbox a new one takes over. The one exception to "never cross".
import type { AccountRow, SessionRow } from '../store/rows.ts'
import type { Store } from '../store/store.ts'

/** What happened that an operator may want to see; never a secret, never mail. */
export type Log = (message: string, facts: Record<string, string | number>) => void

/**
 * The ended session of the account with the same provider session id, or null. `proved` is that id as the client's own
 * record or the command line of a recognised executable shows it; null inherits nothing.
 * Sessions of the account whose process has gone are ended first: a restart is quicker than the sweep.
 */
export async function predecessorOf(
  store: Store,
  account: AccountRow,
  proved: string | null,
  alive: (session: SessionRow) => boolean,
  log: Log,
): Promise<SessionRow | null> {
  if (proved === null) return null
  const same = store.registry
    .sessionsOf(account.id, 0)
    .filter(({ corroborated }) => corroborated.provider_session_id === proved)
  for (const session of same) if (session.ended === null && !alive(session)) await store.endSession(session)
  const found = remembered(same) ?? inStore(store, account, proved)
  // the store gives a mailbox to one successor only; whoever comes later is told of in the log
  if (found === null && same.length > 0)
    log('a session names a provider session whose mailbox another one has', {
      account: account.name,
      holder: same.at(-1)?.name ?? '',
    })
  return found
}

/**
 * Of the sessions in memory, whose facts are newer than the store's, the last one without a successor. One that showed its
 * id by record or command line goes before one that only said it.
 */
function remembered(same: readonly SessionRow[]): SessionRow | null {
  const shown = ({ corroborated }: SessionRow) => Number(corroborated.sources.provider_session_id !== 'meta')
  const free = same.filter(({ ended, successor }) => ended !== null && successor === null)
  return free.sort((a, b) => shown(b) - shown(a) || b.lastSeen - a.lastSeen)[0] ?? null
}

/** The store's answer, unless that session is in memory and has moved on to another provider session since. */
function inStore(store: Store, account: AccountRow, proved: string): SessionRow | null {
  const found = store.predecessor(account.id, proved)
  return found && store.registry.sessionById(found.id) ? null : found
}
