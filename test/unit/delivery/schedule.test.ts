// The order of one listener's bells, its bound, and the delays.
import { expect, test } from 'bun:test'
import { type Bell, DELAYS, inherit, Schedule } from '../../../src/delivery/schedule.ts'

const bell = (id: number, rings = 0, due = 0, rung = rings > 0): Bell => ({ id, boxes: [1], rings, due, rung })
const filled = (...bells: Bell[]) => {
  const schedule = new Schedule()
  for (const one of bells) schedule.add(one)
  return schedule
}

test('reminders come after 30, 60, 120, 240 and then every 300 seconds', () => {
  expect(DELAYS).toEqual([30_000, 60_000, 120_000, 240_000, 300_000])
})

test('first rings go first and in the order of the mail, then what is due earliest', () => {
  const schedule = filled(bell(1, 1, 50), bell(2, 2, 40), bell(3), bell(4))
  const order: number[] = []
  for (let next = schedule.next(false); next; next = schedule.next(false)) {
    order.push(next.id)
    schedule.delete(next.id)
  }
  expect(order).toEqual([3, 4, 2, 1])
})

test('with coalesce the message that was rung speaks for the others', () => {
  expect(filled(bell(1), bell(2, 1, 90), bell(3)).next(true)?.id).toBe(2)
  expect(filled(bell(1), bell(3)).next(true)?.id).toBe(1)
  expect(filled(bell(1), bell(2, 1, 90), bell(3)).pending(true)).toBe(0)
  expect(filled(bell(1), bell(2, 1, 90), bell(3)).pending(false)).toBe(2)
})

test('a full line drops a reminder for new mail, and new mail where there is no reminder', () => {
  const schedule = filled(...Array.from({ length: 999 }, (_, i) => bell(i + 1)), bell(1_000, 1, 90))
  expect(schedule.full).toBe(false)
  expect(schedule.add(bell(1_001, 1, 90))).toBe(false)
  expect(schedule.add(bell(1_002))).toBe(true)
  expect(schedule.get(1_000)).toBeUndefined()
  expect(schedule.full).toBe(true)
  expect(schedule.add(bell(1_003))).toBe(false)
})

test('an heir goes on where the other was', () => {
  const heir = bell(2)
  inherit(heir, bell(1, 3, 70, false))
  expect(heir).toEqual({ id: 2, boxes: [1], rings: 3, due: 70, rung: false })
})
