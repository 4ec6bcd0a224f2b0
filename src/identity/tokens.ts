// Bearer tokens: out of the header, to a digest, to the account that it names.
import { digestOf } from '../engine/admin/secret.ts'
import type { AccountRow } from '../store/rows.ts'
import type { Registry } from '../store/store.ts'
import { Refusal } from '../wire/refusal.ts'

// RFC 6750, section 2.1: the scheme is read without case, the token is one run of visible characters.
const BEARER = /^bearer +([\x21-\x7e]{1,512}) *$/i

/** Header texts that named an account: more than a mailbox has clients. */
const MOST = 1_000

/**
 * The accounts of Authorization headers. What a header named is remembered, for as long as the account is that very row under
 * that very digest: a client sends the same text with every call.
 * @returns a function that throws Refusal `unauthenticated`; it does not tell an unknown token from a removed one
 */
export function accountsOf(registry: Registry): (authorization: string | null) => AccountRow {
  const known = new Map<string, { account: AccountRow; digest: string }>()
  return (authorization) => {
    if (authorization === null || authorization === '') throw new Refusal('unauthenticated', 'no bearer token was sent')
    const before = known.get(authorization)
    if (before !== undefined) {
      if (holderOf(registry, before.digest) === before.account) return before.account
      known.delete(authorization)
    }
    const found = lookUp(registry, authorization)
    if (known.size >= MOST) forgetOldest(known)
    known.set(authorization, found)
    return found.account
  }
}

function forgetOldest(known: Map<string, unknown>): void {
  for (const oldest of known.keys()) {
    known.delete(oldest)
    return
  }
}

function lookUp(registry: Registry, authorization: string): { account: AccountRow; digest: string } {
  const token = BEARER.exec(authorization)?.[1]
  if (token === undefined) throw new Refusal('unauthenticated', 'the Authorization header holds no bearer token')
  const digest = digestOf(token)
  const account = holderOf(registry, digest)
  if (!account) throw new Refusal('unauthenticated', 'no account has this token')
  return { account, digest }
}

/** Whose token has that digest: an account's own, or that of a run of it which has not ended. Digests of secrets may be looked up by hash. */
const holderOf = (registry: Registry, digest: string): AccountRow | undefined =>
  registry.accountByDigest(digest) ?? registry.accountByRun(digest)
