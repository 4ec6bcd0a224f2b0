// Turns: a flood waits for itself. Real timers and real turns of the loop.
import { expect, test } from 'bun:test'
import { Turns, tooMany } from '../../../src/engine/turns.ts'
import { LIMITS } from '../../../src/wire/limits.ts'
import { Refusal } from '../../../src/wire/refusal.ts'

const { callsAtOnce, callsWaiting } = LIMITS

/** One call that works for `ms`; `done` is told when it ends. */
async function call(turns: Turns, account: number, done: () => void, ms = 0): Promise<void> {
  const turn = turns.take(account)
  if (turn) await turn
  if (ms > 0) await Bun.sleep(ms)
  done()
  turns.leave(account)
}

test('as many as may work at once begin at once, the others in their order', async () => {
  const turns = new Turns()
  const order: number[] = []
  const calls = Array.from({ length: 3 * callsAtOnce }, (_, at) => call(turns, 1, () => order.push(at), 2))
  for (let at = 0; at < callsAtOnce; at++) expect(turns.take(2) === null).toBe(true)
  await Promise.all(calls)
  expect(order).toEqual(order.toSorted((a, b) => a - b))
})

test('who calls one after another never waits', async () => {
  const turns = new Turns()
  for (let at = 0; at < 200; at++) {
    expect(turns.take(1)).toBeNull()
    turns.leave(1)
    await new Promise(setImmediate)
  }
})

test('a thousand calls of one account do not stand before the call of another', async () => {
  const turns = new Turns()
  const order: string[] = []
  const flood = Array.from({ length: 1_000 }, () => call(turns, 1, () => order.push('flood'), 1))
  await call(turns, 2, () => order.push('other'), 1)
  expect(order.filter((who) => who === 'flood').length).toBeLessThanOrEqual(2 * callsAtOnce)
  await Promise.all(flood)
  expect(order.length).toBe(1_001)
})

test('a full line is refused by name, and takes calls again when there is room', async () => {
  const turns = new Turns()
  let done = 0
  const all = Array.from({ length: callsAtOnce + callsWaiting }, () => call(turns, 1, () => done++))
  let refused: unknown
  try {
    turns.take(1)
  } catch (error) {
    refused = error
  }
  expect(refused).toMatchObject({ kind: 'too_many', facts: { limit: callsWaiting, retry_after_ms: 1_000 } })
  expect(turns.take(2)).toBeNull()
  await Promise.all(all)
  expect(done).toBe(callsAtOnce + callsWaiting)
  await new Promise(setImmediate)
  expect(turns.take(1)).toBeNull()
}, 60_000)

test('the refusal tells whose, what and how many', () => {
  const refusal = tooMany('waits', 3, 'the mailbox')
  expect(refusal).toBeInstanceOf(Refusal)
  expect(refusal).toMatchObject({ status: 429, message: 'the mailbox has 3 waits, as many as there may be' })
})
