// Parked readers on a real store: who is woken by what, who is not, and that a thousand of them starve nobody.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { Waiters } from '../../../src/delivery/waiters.ts'
import type { AccountRow, SessionRow } from '../../../src/store/rows.ts'
import { type Office, openOffice, toAccount, toRoom, toSession } from './office.ts'

let office: Office
let waiters: Waiters
let a: AccountRow
let b: AccountRow
let a1: SessionRow
let b1: SessionRow
let b2: SessionRow

beforeEach(async () => {
  office = await openOffice()
  waiters = new Waiters(office.store)
  a = await office.account('a')
  b = await office.account('b')
  a1 = await office.session(a)
  b1 = await office.session(b)
  b2 = await office.session(b)
})
afterEach(async () => {
  waiters.stop()
  await office.store.close()
})

const never = new AbortController().signal
const park = (account: AccountRow, session: SessionRow, ms = 5_000, signal = never) =>
  waiters.wait([account.box, session.box], ms, signal, () => false)

/** `woken`, `not`, or `waits` after a turn in which the commit is known to have been heard. */
async function state(wait: Promise<boolean>): Promise<string> {
  return Promise.race([wait.then((woken) => (woken ? 'woken' : 'not')), Bun.sleep(20).then(() => 'waits')])
}

test('mail to an account wakes every session of it and nobody else', async () => {
  const waits = [park(b, b1), park(b, b2), park(a, a1)]
  await office.send(a1, toAccount(b))
  expect(await Promise.all(waits.map(state))).toEqual(['woken', 'woken', 'waits'])
})

test('mail to a session wakes that one, not its sibling', async () => {
  const waits = [park(b, b1), park(b, b2)]
  await office.send(a1, toSession(b, b1))
  expect(await Promise.all(waits.map(state))).toEqual(['woken', 'waits'])
})

test('a room post wakes members and siblings, not its sender', async () => {
  const room = await office.room('build', a, b)
  const waits = [park(a, a1), park(b, b1), park(b, b2)]
  await office.send(b1, toRoom(room, a, b))
  expect(await Promise.all(waits.map(state))).toEqual(['woken', 'waits', 'woken'])
})

test('mail that a session sends to its own account or to itself wakes it', async () => {
  const waits = [park(b, b1)]
  await office.send(b1, toAccount(b))
  expect(await Promise.all(waits.map(state))).toEqual(['woken'])
  const again = park(b, b1)
  await office.send(b1, toSession(b, b1))
  expect(await state(again)).toBe('woken')
})

test('what is reopened wakes, and so does a released orphan; opening and closing do not', async () => {
  const { id } = await office.send(a1, toAccount(b))
  const wait = park(b, b2)
  await office.store.open(b, b1, { ids: [id] })
  await office.store.settle(b, b1, [id], 'acknowledged')
  expect(await state(wait)).toBe('waits')
  await office.store.reopen(b, b1, [id])
  expect(await state(wait)).toBe('woken')

  await office.send(a1, toSession(b, b1))
  await office.store.endSession(b1)
  const other = park(b, b2)
  expect(await office.store.release(b1)).toBe(1)
  expect(await state(other)).toBe('woken')
})

test('mail that came between the look and the parking is found', async () => {
  let looked = 0
  expect(await waiters.wait([b.box, b1.box], 5_000, never, () => ++looked === 1)).toBe(true)
  expect(looked).toBe(1)
  expect(waiters.size).toBe(0)
})

test('a look that fails ends the wait, so that the reader meets the fault', async () => {
  const failing = () => {
    throw new Error('no store')
  }
  expect(await waiters.wait([b.box], 5_000, never, failing)).toBe(true)
  expect(waiters.size).toBe(0)
})

test('a wait ends on time, and early when its reader leaves', async () => {
  const start = performance.now()
  expect(await park(b, b1, 60)).toBe(false)
  expect(performance.now() - start).toBeWithin(55, 200)
  const left = new AbortController()
  const wait = park(b, b1, 5_000, left.signal)
  expect(waiters.parked(b1.box)).toBe(1)
  left.abort()
  expect(await wait).toBe(false)
  expect(waiters.parked(b1.box)).toBe(0)
  expect(await park(b, b1, 5_000, left.signal)).toBe(false)
})

test('shutdown answers everybody, and later ones at once', async () => {
  const waits = Array.from({ length: 100 }, () => park(b, b1))
  waiters.stop()
  expect(new Set(await Promise.all(waits))).toEqual(new Set([false]))
  expect(await park(b, b1)).toBe(false)
  expect(waiters.size).toBe(0)
})

test('one send wakes 1,000 readers in order, and others get their turns meanwhile', async () => {
  const order: number[] = []
  const busy = (ms: number) => {
    for (const end = performance.now() + ms; performance.now() < end; );
  }
  const waits = Array.from({ length: 1_000 }, (_, i) =>
    park(b, i % 2 ? b1 : b2).then((woken) => {
      busy(0.1)
      if (woken) order.push(i)
    }),
  )
  await office.send(a1, toAccount(b))
  let turns = 0
  let longest = 0
  for (let last = performance.now(); order.length < 1_000; turns++) {
    await new Promise((done) => setImmediate(done))
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  }
  await Promise.all(waits)
  expect(order).toEqual(order.toSorted((x, y) => x - y))
  expect(turns).toBeGreaterThan(30)
  expect(longest).toBeLessThan(500) // 8 ms on a quiet machine
  expect(waiters.size).toBe(0)
})

test('5,000 parked readers are cheap to park and to let go', async () => {
  const left = new AbortController()
  const start = performance.now()
  const waits = Array.from({ length: 5_000 }, () => park(b, b1, 60_000, left.signal))
  expect(waiters.parked(b.box)).toBe(5_000)
  left.abort()
  await Promise.all(waits)
  expect(waiters.parked(b.box)).toBe(0)
  expect(performance.now() - start).toBeLessThan(500)
})
