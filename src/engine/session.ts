// Finding a session of an account by its id or a unique prefix of it.
import type { AccountRow, SessionRow } from '../store/rows.ts'
import { Refusal } from '../wire/refusal.ts'
import type { Caller, Mail } from './mail.ts'
import { maySee } from './visible.ts'

/** `s-` and 32 hex digits: no prefix. */
const WHOLE = 34
/** Of ended sessions: there may be thousands. */
const ENDED = 5
const CANDIDATES = 20

/**
 * By the whole id, or by a prefix that only one live session has, or else only one that has ended, however long ago.
 * @throws Refusal `unknown_session`, `ambiguous_session` with the candidates, `session_account_mismatch`
 */
export function findSession(mail: Mail, caller: Caller, account: AccountRow, id: string): SessionRow {
  const { registry } = mail.store
  const found = sessionNamed(mail, account, id)
  if (found) return found
  const owner = registry
    .accounts()
    .find((other) => registry.sessionsByPrefix(other.id, id).length > 0 && maySee(mail, caller, other))
  if (!owner) throw new Refusal('unknown_session', `${account.name} has no session ${id}`, { session: id })
  throw new Refusal('session_account_mismatch', `session ${id} is not one of ${account.name}`, {
    session: id,
    expected: owner.name,
    presented: account.name,
  })
}

/**
 * As `findSession`; null where the account has none.
 * @throws Refusal `ambiguous_session`
 */
export function sessionNamed(mail: Mail, account: AccountRow, id: string): SessionRow | null {
  const { store } = mail
  if (id.length >= WHOLE) return store.registry.session(account.id, id) ?? store.sessionByName(account.id, id)
  const live = store.registry.sessionsByPrefix(account.id, id).filter((session) => session.ended === null)
  const found = live.length > 0 ? live : store.sessionsByPrefix(account.id, id, ENDED)
  const [first, ...others] = found
  if (first && others.length > 0) throw ambiguous(account, id, found, live.length > 0)
  return first ?? null
}

function ambiguous(account: AccountRow, id: string, found: readonly SessionRow[], live: boolean): Refusal {
  const candidates = found.slice(0, CANDIDATES).map((session) => `${account.name}/${session.name}`)
  const count = live || found.length < ENDED ? String(found.length) : `${ENDED} or more`
  return new Refusal('ambiguous_session', `${count} sessions of ${account.name} begin with ${id}`, {
    session: id,
    candidates,
  })
}
