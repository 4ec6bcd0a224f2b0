// How accounts and sessions are written: the caller's own address, and the compact address of whoever opened or closed a letter.
import { SYSTEM, SYSTEM_SESSION } from '../store/people/people.ts'
import type { AccountRow, SessionRow } from '../store/rows.ts'
import type { SessionAddress } from '../wire/address.ts'
import type { Caller, Mail } from './mail.ts'

export const sessionAddress = (account: AccountRow, session: SessionRow): SessionAddress => ({
  kind: 'session',
  participant: account.name,
  session: session.name,
})

/** The caller's session address: what `from` and `reader` say. */
export const addressOf = ({ account, session }: Caller): SessionAddress => sessionAddress(account, session)

/** The same as compact text. */
export const addressText = ({ account, session }: Caller): string => `${account.name}/${session.name}`

/** A session by its row id, also one that is no longer in memory. */
export const sessionOf = (mail: Mail, id: number): SessionRow | null =>
  mail.store.registry.sessionById(id) ?? mail.store.sessionById(id)

/** Compact address of a session by its row id; null where its account is gone. */
export function sessionText(mail: Mail, id: number | null): string | null {
  if (id === null) return null
  const session = sessionOf(mail, id)
  const account = session && mail.store.registry.accountById(session.account)
  if (session?.name === SYSTEM_SESSION) return `${SYSTEM}/${SYSTEM_SESSION}`
  return account ? `${account.name}/${session.name}` : null
}

/** The account still exists and this is its present row: names and ids of removed accounts stay known. */
export const isCurrent = (mail: Mail, account: AccountRow): boolean =>
  mail.store.registry.account(account.name)?.id === account.id
