// The accounts, rooms and sessions that an admin request names: found, or refused by name.
import type { AccountRow, RoomRow, SessionRow } from '../../store/rows.ts'
import { Refusal } from '../../wire/refusal.ts'
import type { Mail } from '../mail.ts'
import { sessionNamed } from '../session.ts'

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
 * A session of the account by its id or a unique prefix, also one that ended long ago.
 * @throws Refusal `unknown_session`, or `ambiguous_session` with the candidates
 */
export function knownSession(mail: Mail, account: AccountRow, id: string): SessionRow {
  const session = sessionNamed(mail, account, id)
  if (!session) throw new Refusal('unknown_session', `${account.name} has no session ${id}`, { session: id })
  return session
}
