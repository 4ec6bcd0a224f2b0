// The accounts, rooms and sessions that an admin request names: found, or refused by name.
import type { AccountRow, RoomRow, SessionRow } from '../../store/rows.ts'
import { Refusal } from '../../wire/refusal.ts'
import type { Mail } from '../mail.ts'

/** @throws Refusal `unknown_participant` */
export function knownAccount(mail: Mail, name: string): AccountRow {
  const account = mail.store.registry.account(name)
  if (!account) throw new Refusal('unknown_participant', `no account ${name}`, { participant: name })
  return account
}

/** @throws Refusal `unknown_room` */
export function knownRoom(mail: Mail, name: string): RoomRow {
  const room = mail.store.registry.room(name)
  if (!room) throw new Refusal('unknown_room', `no room ${name}`, { room: name })
  return room
}

/**
 * A session of the account by its id or a unique prefix, also one that ended long ago when the whole id is given.
 * @throws Refusal `unknown_session`, or `ambiguous_session` with the candidates
 */
export function knownSession(mail: Mail, account: AccountRow, id: string): SessionRow {
  const found = mail.store.registry.sessionsByPrefix(account.id, id)
  const exact = found.find((session) => session.name === id)
  if (exact) return exact
  if (found.length > 1)
    throw new Refusal('ambiguous_session', `${found.length} sessions of ${account.name} begin with ${id}`, {
      candidates: found.map((session) => session.name).slice(0, 20),
    })
  const session = found[0] ?? mail.store.sessionByName(account.id, id)
  if (!session) throw new Refusal('unknown_session', `${account.name} has no session ${id}`, { session: id })
  return session
}
