// Account data of our user, of all rooms or of one: Matrix CS §10.9. Keys of encryption lie there too; those are nobody's to change.
import { malformed } from '../../wire/refusal.ts'
import type { Link } from '../link.ts'
import { HomeserverError, type Json } from '../matrix/homeserver.ts'

const part = encodeURIComponent
const KEYS = /^(?:m\.cross_signing|m\.secret_storage|m\.megolm_backup|m\.dehydrated|org\.matrix\.msc)/

const pathOf = ({ session }: Link, type: string, room: string | null): string =>
  `/user/${part(session.user)}${room === null ? '' : `/rooms/${part(room)}`}/account_data/${part(type)}`

/** Null where there is none. */
export async function accountData(link: Link, type: string, room: string | null = null): Promise<Json | null> {
  try {
    return await link.homeserver.call('GET', pathOf(link, type, room))
  } catch (error) {
    if (error instanceof HomeserverError && error.status === 404) return null
    throw error
  }
}

/** @throws Refusal `malformed` for what belongs to encryption */
export async function setAccountData(
  link: Link,
  type: string,
  content: object,
  room: string | null = null,
): Promise<void> {
  if (KEYS.test(type)) throw malformed('type', 'belongs to the encryption of the account')
  await link.homeserver.call('PUT', pathOf(link, type, room), content)
}
