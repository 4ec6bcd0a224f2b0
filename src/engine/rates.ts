// Token buckets: how much an account may send, and how often one account may wake another.
import { LIMITS } from '../wire/limits.ts'
import { Turns } from './turns.ts'

type Bucket = { tokens: number; at: number }

/** What a bucket refills in a second, and up to. */
type Flow = { readonly perSecond: number; readonly burst: number }
const LETTERS: Flow = { perSecond: LIMITS.accountRate, burst: LIMITS.accountBurst }
const BYTES: Flow = { perSecond: LIMITS.accountBytesRate, burst: LIMITS.accountBytesBurst }
const PAIR: Flow = { perSecond: LIMITS.pairPerMinute / 60, burst: LIMITS.pairBurst }
const UNKNOWN: Flow = { perSecond: LIMITS.unknownRate, burst: LIMITS.unknownBurst }

/** Takes `cost` tokens of a bucket; returns 0, or the milliseconds until there are so many, and takes none then. */
function take<K>(buckets: Map<K, Bucket>, key: K, { perSecond, burst }: Flow, now: number, cost = 1): number {
  let bucket = buckets.get(key)
  if (!bucket) {
    if (buckets.size >= 10_000) forgetFull(buckets, { perSecond, burst }, now)
    bucket = { tokens: burst, at: now }
    buckets.set(key, bucket)
  }
  bucket.tokens = Math.min(burst, bucket.tokens + (Math.max(0, now - bucket.at) / 1000) * perSecond)
  bucket.at = now
  if (bucket.tokens < cost) return Math.ceil(((cost - bucket.tokens) / perSecond) * 1000)
  bucket.tokens -= cost
  return 0
}

/** A full bucket says nothing that a new one does not. */
function forgetFull<K>(buckets: Map<K, Bucket>, { perSecond, burst }: Flow, now: number): void {
  for (const [key, bucket] of buckets)
    if (bucket.tokens + ((now - bucket.at) / 1000) * perSecond >= burst) buckets.delete(key)
}

export class Rates {
  readonly #letters = new Map<number, Bucket>()
  readonly #bytes = new Map<number, Bucket>()
  readonly #pairs = new Map<string, Bucket>()
  /** One for all: whoever shows no valid token is nobody that could have one of its own. */
  readonly #unknown = new Map<'all', Bucket>()
  readonly turns = new Turns()

  /** One message of `account` whose body has so many bytes; 0, or how many milliseconds to wait. */
  send(account: number, now: number, bytes = 0): number {
    const wait = take(this.#letters, account, LETTERS, now)
    return wait > 0 ? wait : take(this.#bytes, account, BYTES, now, bytes)
  }

  /** One message that would wake or ring `to`; 0, or how long no further one may. */
  wake(from: number, to: number, now: number): number {
    return take(this.#pairs, `${from}>${to}`, PAIR, now)
  }

  /** One call without a valid token; 0, or how many milliseconds no further one is looked at. */
  unknown(now: number): number {
    return take(this.#unknown, 'all', UNKNOWN, now)
  }
}
