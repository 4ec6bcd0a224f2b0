// Times with zone and age.
import { afterAll, expect, test } from 'bun:test'
import { clock, clockAndAge, span } from '../../../src/cli/times.ts'

const zone = process.env.TZ
afterAll(() => {
  if (zone === undefined) delete process.env.TZ
  else process.env.TZ = zone
})

test.each([
  ['UTC', '2026-11-30 19:02:11 +00:00'],
  ['Asia/Kolkata', '2026-12-01 00:32:11 +05:30'],
  ['America/St_Johns', '2026-11-30 15:32:11 -03:30'],
])('in %s', (name, expected) => {
  process.env.TZ = name
  expect(clock('2026-11-30T19:02:11.987Z')).toBe(expected)
})

test.each([
  [-5, '0 s'],
  [0.9, '0 s'],
  [59, '59 s'],
  [60, '1 min'],
  [3_599, '59 min'],
  [3_600, '1 h'],
  [86_399, '23 h'],
  [86_400 * 12, '12 d'],
])('%d seconds are %s', (secs, expected) => expect(span(secs)).toBe(expected))

test('what lies ahead says so; a clock that is a moment behind does not', () => {
  process.env.TZ = 'UTC'
  const now = '2026-11-30T12:00:00.000Z'
  expect(clockAndAge('2026-11-30T12:10:00.000Z', now)).toBe('2026-11-30 12:10:00 +00:00 (in 10 min)')
  expect(clockAndAge('2026-11-30T12:00:00.400Z', now)).toBe('2026-11-30 12:00:00 +00:00 (0 s ago)')
  expect(clockAndAge('2026-11-30T11:00:00.000Z', now)).toBe('2026-11-30 11:00:00 +00:00 (1 h ago)')
})
