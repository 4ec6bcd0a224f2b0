// Token buckets: how much an account may send, and how often one account may wake another.
import { LIMITS } from '../wire/limits.ts'

type Bucket = { tokens: number; at: number }

/** Takes one token of a bucket that refills `perSecond` up to `burst`; returns 0, or the milliseconds until there is one. */
function take(buckets: Map<string, Bucket>, key: string, perSecond: number, burst: number, now: number): number {
  let bucket = buckets.get(key)
  if (!bucket) {
    if (buckets.size >= 10_000) forgetFull(buckets, perSecond, burst, now)
    bucket = { tokens: burst, at: now }
    buckets.set(key, bucket)
  }
  bucket.tokens = Math.min(burst, bucket.tokens + (Math.max(0, now - bucket.at) / 1000) * perSecond)
  bucket.at = now
  if (bucket.tokens < 1) return Math.ceil(((1 - bucket.tokens) / perSecond) * 1000)
  bucket.tokens -= 1
  return 0
}

/** A full bucket says nothing that a new one does not. */
function forgetFull(buckets: Map<string, Bucket>, perSecond: number, burst: number, now: number): void {
  for (const [key, bucket] of buckets)
    if (bucket.tokens + ((now - bucket.at) / 1000) * perSecond >= burst) buckets.delete(key)
}

export class Rates {
  readonly #accounts = new Map<string, Bucket>()
  readonly #pairs = new Map<string, Bucket>()

  /** One message of `account`; 0, or how many milliseconds to wait. */
  send(account: number, now: number): number {
    return take(this.#accounts, String(account), LIMITS.accountRate, LIMITS.accountBurst, now)
  }

  /** One message that would wake or ring `to`; 0, or how long no further one may. */
  wake(from: number, to: number, now: number): number {
    return take(this.#pairs, `${from}>${to}`, LIMITS.pairPerMinute / 60, LIMITS.pairBurst, now)
  }
}
