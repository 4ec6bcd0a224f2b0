// Bearer tokens: out of the header, to a digest, to the account that it names.
import { timingSafeEqual } from 'node:crypto'
import { digestOf } from '../engine/admin/secret.ts'
import type { AccountRow } from '../store/rows.ts'
import type { Registry } from '../store/store.ts'
import { Refusal } from '../wire/refusal.ts'

// RFC 6750, section 2.1: the scheme is read without case, the token is one run of visible characters.
const BEARER = /^bearer +([\x21-\x7e]{1,512}) *$/i

/**
 * The account of an Authorization header.
 * @throws Refusal `unauthenticated`; it does not tell an unknown token from a removed one
 */
export function accountOf(registry: Registry, authorization: string | null): AccountRow {
  if (authorization === null || authorization === '') throw new Refusal('unauthenticated', 'no bearer token was sent')
  const token = BEARER.exec(authorization)?.[1]
  if (token === undefined) throw new Refusal('unauthenticated', 'the Authorization header holds no bearer token')
  const digest = digestOf(token)
  const account = registry.accountByDigest(digest)
  if (!account || !timingSafeEqual(Buffer.from(digest), Buffer.from(account.digest)))
    throw new Refusal('unauthenticated', 'no account has this token')
  return account
}
