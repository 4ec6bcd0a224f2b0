// Logins of the web page: one-time links, and the keys that they are exchanged for. In memory alone: a restart ends them all.
import { digestOf, newSecret } from '../engine/admin/secret.ts'
import type { AccountRow } from '../store/rows.ts'
import type { Registry } from '../store/store.ts'
import { Refusal } from '../wire/refusal.ts'

/** Milliseconds that a link may be used. */
export const LINK_MS = 60_000
/** Seconds that a key lasts at most. */
export const KEY_SECONDS = 43_200
/** Links, and keys, that are kept; the oldest give way. */
const MOST = 100

/** RFC 6750, section 2.1. The beginning tells a key from an account's token. */
const KEY = /^[Bb][Ee][Aa][Rr][Ee][Rr] +(m4ap_[0-9a-f]{64}) *$/

/** For whom, until when (ms); `digest` is that of the account's token at that time: a new token ends its logins too. */
type Grant = { account: number; digest: string; until: number }
type Link = Grant & { seconds: number }

const HINT = 'ask for a new link with: mail4agent ui'

export class Logins {
  readonly #registry: Registry
  readonly #now: () => number
  /** By the SHA-256 of the secret. */
  readonly #links = new Map<string, Link>()
  readonly #keys = new Map<string, Grant>()

  constructor(registry: Registry, now: () => number = Date.now) {
    this.#registry = registry
    this.#now = now
  }

  /** A secret that can be exchanged once, within a minute, for a key that lasts `seconds`. */
  offer(account: AccountRow, seconds: number): { secret: string; until: number } {
    const secret = newSecret()
    const until = this.#now() + LINK_MS
    keep(this.#links, digestOf(secret), { account: account.id, digest: account.digest, until, seconds })
    return { secret, until }
  }

  /**
   * Whose link that is. It is not used up: that a process may redeem it has to be known first.
   * @throws Refusal `login_over`
   */
  offered(secret: string): AccountRow {
    return this.#holder(this.#links.get(digestOf(secret)), 'this link was used, or is older than a minute')
  }

  /**
   * Uses the link up.
   * @throws Refusal `login_over`
   */
  redeem(secret: string): { key: string; account: AccountRow; until: number } {
    const account = this.offered(secret)
    const digest = digestOf(secret)
    const seconds = this.#links.get(digest)?.seconds ?? 0
    this.#links.delete(digest)
    const key = `m4ap_${newSecret()}`
    const until = this.#now() + seconds * 1000
    keep(this.#keys, digestOf(key), { account: account.id, digest: account.digest, until })
    return { key, account, until }
  }

  /** Is what the header holds a key of the page, and no account's token? */
  isKey(authorization: string | null): authorization is string {
    return authorization !== null && KEY.test(authorization)
  }

  /**
   * The account of a key.
   * @throws Refusal `unauthenticated`
   */
  account(authorization: string): AccountRow {
    const key = KEY.exec(authorization)?.[1] ?? ''
    const grant = this.#keys.get(digestOf(key))
    const account = grant && this.#current(grant)
    if (!account) throw new Refusal('unauthenticated', 'this login of the page has ended', {}, HINT)
    return account
  }

  /** Ends the one login that the header holds. */
  leave(authorization: string): void {
    const key = KEY.exec(authorization)?.[1]
    if (key !== undefined) this.#keys.delete(digestOf(key))
  }

  /** Ends every login and link of the account. Returns how many logins it had. */
  end(account: AccountRow): number {
    let ended = 0
    for (const [digest, grant] of this.#links) if (grant.account === account.id) this.#links.delete(digest)
    for (const [digest, grant] of this.#keys) {
      if (grant.account !== account.id) continue
      if (this.#current(grant)) ended++
      this.#keys.delete(digest)
    }
    return ended
  }

  #holder(grant: Grant | undefined, otherwise: string): AccountRow {
    const account = grant && this.#current(grant)
    if (!account) throw new Refusal('login_over', otherwise)
    return account
  }

  /** The account as it is now; undefined where the grant is over, or the account has another token since. */
  #current({ account: id, digest, until }: Grant): AccountRow | undefined {
    const account = this.#now() < until ? this.#registry.accountByDigest(digest) : undefined
    return account?.id === id ? account : undefined
  }
}

function keep<G>(grants: Map<string, G>, digest: string, grant: G): void {
  if (grants.size >= MOST) {
    const [oldest] = grants.keys()
    if (oldest !== undefined) grants.delete(oldest)
  }
  grants.set(digest, grant)
}
