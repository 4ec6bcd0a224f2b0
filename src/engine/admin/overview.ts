// overview: every account with who of it lives, what lies unread there and for how long, and how its doorbell fares.
import type { AccountRow } from '../../store/rows.ts'
import type { AdminAnswer, AdminRequest } from '../../wire/admin.ts'
import type { AccountState } from '../../wire/overview.ts'
import { rfc3339, rfc3339OrNull } from '../../wire/time.ts'
import { isLive } from '../drained.ts'
import { ageOf } from '../letter.ts'
import type { Mail } from '../mail.ts'
import { accountCount, boxCount } from '../unread.ts'
import { pageByName } from './paging.ts'
import { parts } from './parts.ts'

/** Sessions that ended this long ago still say when an account was last seen. */
const SEEN_MS = 86_400_000

export async function overview(mail: Mail, request: AdminRequest<'overview'>): Promise<AdminAnswer<'overview'>> {
  const { registry } = mail.store
  const now = mail.now()
  const { rows, has_more, after } = pageByName(registry.accounts(), request)
  return {
    accounts: rows.map((account) => stateOf(mail, account, now)),
    has_more,
    after,
    rooms: registry.rooms().length,
    orphaned_sessions: mail.store.orphanedSessions(null).length,
    parts: await parts(mail),
    now: rfc3339(now),
  }
}

function stateOf(mail: Mail, account: AccountRow, now: number): AccountState {
  const { store } = mail
  const sessions = store.registry.sessionsOf(account.id, now - SEEN_MS)
  const live = sessions.filter((session) => isLive(mail, session))
  const [only, ...siblings] = live
  // what the only session wrote to a room is unread to nobody; what one of several wrote is, to the others
  const alone = only !== undefined && siblings.length === 0
  const { unread, oldest } = alone ? accountCount(mail, { account, session: only }) : boxCount(mail, account.box)
  const boxes = new Set(live.map(({ box }) => box))
  const seen = sessions.reduce((latest, { lastSeen }) => Math.max(latest, lastSeen), 0)
  return {
    id: account.name,
    label: account.label,
    kind: account.kind,
    live_sessions: live.length,
    last_seen: rfc3339OrNull(seen === 0 ? null : seen),
    unread,
    oldest_unread_age_secs: oldest === null ? null : ageOf(oldest, now),
    session_unread: [...boxes].reduce((sum, box) => sum + store.openCount(box), 0),
    waiting: mail.parking.parked(account.box),
    doorbell: store.registry.listener(account.id) ? bellState(mail, account) : null,
  }
}

function bellState(mail: Mail, account: AccountRow): NonNullable<AccountState['doorbell']> {
  const { pending, lastOk, lastError, lastErrorAt } = mail.bell(account.id)
  return {
    pending,
    last_ok: rfc3339OrNull(lastOk),
    last_error: lastError,
    last_error_at: rfc3339OrNull(lastErrorAt),
  }
}
