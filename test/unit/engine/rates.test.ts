// Token buckets by the clock that they are given: letters, bytes, and pairs.
import { expect, test } from 'bun:test'
import { Rates } from '../../../src/engine/rates.ts'
import { LIMITS } from '../../../src/wire/limits.ts'

const { accountBurst, accountRate, accountBytesBurst, accountBytesRate, pairBurst } = LIMITS

test('a burst of letters, then so many a second; another account has its own', () => {
  const rates = new Rates()
  for (let at = 0; at < accountBurst; at++) expect(rates.send(1, 0)).toBe(0)
  expect(rates.send(1, 0)).toBe(1)
  expect(rates.send(2, 0)).toBe(0)
  let sent = 0
  while (rates.send(1, 1_000) === 0) sent++
  expect(sent).toBe(accountRate)
})

test('a burst of bytes, then so many a second, and how long to wait for a body of that size', () => {
  const rates = new Rates()
  const bodies = accountBytesBurst / LIMITS.body
  expect(bodies).toBeGreaterThan(accountBurst)
  let now = 0
  let sent = 0
  // at the full rate of letters it is the bytes that end it
  for (let wait = 0; wait === 0; sent++) {
    now += 1_000 / accountRate
    wait = rates.send(1, now, LIMITS.body)
    if (wait > 0) {
      expect(wait).toBeLessThanOrEqual(Math.ceil((LIMITS.body / accountBytesRate) * 1_000))
      expect(rates.send(1, now + wait, LIMITS.body)).toBe(0)
    }
  }
  expect(sent * LIMITS.body).toBeGreaterThan(accountBytesBurst)
  expect(rates.send(1, now, 0)).toBe(0)
})

test('calls without a valid token have one bucket for all', () => {
  const rates = new Rates()
  const { unknownBurst, unknownRate } = LIMITS
  for (let at = 0; at < unknownBurst; at++) expect(rates.unknown(5_000)).toBe(0)
  expect(rates.unknown(5_000)).toBe(1_000 / unknownRate)
  expect(rates.unknown(5_000 + 1_000 / unknownRate)).toBe(0)
  expect(rates.send(1, 5_000)).toBe(0)
})

test('a clock that goes back gives nothing and takes nothing', () => {
  const rates = new Rates()
  for (let at = 0; at < pairBurst; at++) expect(rates.wake(1, 2, 10_000)).toBe(0)
  expect(rates.wake(1, 2, 0)).toBeGreaterThan(0)
  expect(rates.wake(2, 1, 0)).toBe(0)
  expect(rates.wake(1, 2, 500)).toBe(0)
})
