// Finding a session of an account by its id or a unique prefix of it.
import type { AccountRow, SessionRow } from '../store/rows.ts'
import { Refusal } from '../wire/refusal.ts'
import type { Mail } from './mail.ts'

/** `s-` and 32 hex digits: no prefix. */
const WHOLE = 34
const CANDIDATES = 20

/**
 * Also one that ended long ago, if its whole id is given.
 * @throws Refusal `unknown_session`, `ambiguous_session` with the candidates, `session_account_mismatch`
 */
export function findSession(mail: Mail, account: AccountRow, id: string): SessionRow {
  const { store } = mail
  if (id.length >= WHOLE) {
    const session = store.registry.session(account.id, id) ?? store.sessionByName(account.id, id)
    if (session) return session
  } else {
    const [first, ...others] = store.registry.sessionsByPrefix(account.id, id)
    if (first && others.length > 0) throw ambiguous(account, id, [first, ...others])
    if (first) return first
  }
  const owner = store.registry.accounts().find((other) => store.registry.sessionsByPrefix(other.id, id).length > 0)
  if (!owner) throw new Refusal('unknown_session', `${account.name} has no session ${id}`, { session: id })
  throw new Refusal('session_account_mismatch', `session ${id} is not one of ${account.name}`, {
    session: id,
    expected: owner.name,
    presented: account.name,
  })
}

function ambiguous(account: AccountRow, id: string, found: readonly SessionRow[]): Refusal {
  const candidates = found.slice(0, CANDIDATES).map((session) => `${account.name}/${session.name}`)
  return new Refusal('ambiguous_session', `${found.length} sessions of ${account.name} begin with ${id}`, {
    session: id,
    candidates,
  })
}
