// Logins of the page: a link once and for a minute, a key for its time, and what ends them.
import { beforeEach, expect, test } from 'bun:test'
import { KEY_SECONDS, LINK_MS, Logins } from '../../../src/identity/logins.ts'
import { openStore } from '../../../src/store/open.ts'
import type { AccountRow } from '../../../src/store/rows.ts'
import type { Store } from '../../../src/store/store.ts'
import { Refusal } from '../../../src/wire/refusal.ts'
import { addAccount } from '../../support/population.ts'

let store: Store
let ada: AccountRow
let now: number
let logins: Logins
beforeEach(async () => {
  store = await openStore(':memory:')
  ada = await addAccount(store, 'ada')
  now = 1_000_000
  logins = new Logins(store.registry, () => now)
})

const kindOf = (act: () => unknown): string => {
  try {
    act()
  } catch (error) {
    if (error instanceof Refusal) return error.kind
    throw error
  }
  return 'none'
}
const enter = (seconds = KEY_SECONDS): string => `Bearer ${logins.redeem(logins.offer(ada, seconds).secret).key}`

test('a link is exchanged once', () => {
  const { secret, until } = logins.offer(ada, 60)
  expect(until).toBe(now + LINK_MS)
  expect(logins.offered(secret)).toBe(ada)
  const { key, account } = logins.redeem(secret)
  expect(account).toBe(ada)
  expect(key).toMatch(/^m4ap_[0-9a-f]{64}$/)
  expect(kindOf(() => logins.redeem(secret))).toBe('login_over')
  expect(kindOf(() => logins.offered('0'.repeat(64)))).toBe('login_over')
})

test('a link lasts a minute, a key as long as was asked for', () => {
  const { secret } = logins.offer(ada, 60)
  now += LINK_MS
  expect(kindOf(() => logins.redeem(secret))).toBe('login_over')
  const key = enter(60)
  now += 59_999
  expect(logins.account(key)).toBe(ada)
  now += 1
  expect(kindOf(() => logins.account(key))).toBe('unauthenticated')
})

test('a key is told from a token by its beginning', () => {
  expect(logins.isKey(enter())).toBe(true)
  expect(logins.isKey(`Bearer ${'0'.repeat(64)}`)).toBe(false)
  expect(logins.isKey(null)).toBe(false)
  expect(kindOf(() => logins.account(`Bearer m4ap_${'0'.repeat(64)}`))).toBe('unauthenticated')
})

test('one ends itself, the account ends all of its own', async () => {
  const bob = await addAccount(store, 'bob')
  const [one, two] = [enter(), enter()]
  const other = `Bearer ${logins.redeem(logins.offer(bob, 60).secret).key}`
  const pending = logins.offer(ada, 60).secret
  logins.leave(one)
  expect(kindOf(() => logins.account(one))).toBe('unauthenticated')
  expect(logins.end(ada)).toBe(1)
  expect(kindOf(() => logins.account(two))).toBe('unauthenticated')
  expect(kindOf(() => logins.redeem(pending))).toBe('login_over')
  expect(logins.account(other)).toBe(bob)
})

test('a new token, or the end of the account, ends its logins', async () => {
  const key = enter()
  await store.changeAccount(ada, { digest: 'a'.repeat(64) })
  expect(kindOf(() => logins.account(key))).toBe('unauthenticated')
  const now = store.registry.account('ada')
  if (!now) throw new Error('no ada')
  const next = `Bearer ${logins.redeem(logins.offer(now, 60).secret).key}`
  await store.removeAccount(now)
  expect(kindOf(() => logins.account(next))).toBe('unauthenticated')
})

test('a hundred are kept, the oldest give way', () => {
  const first = enter()
  const rest = Array.from({ length: 100 }, () => enter())
  expect(kindOf(() => logins.account(first))).toBe('unauthenticated')
  for (const key of rest) expect(logins.account(key)).toBe(ada)
})
