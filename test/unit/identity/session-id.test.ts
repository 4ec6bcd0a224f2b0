// A session's name tells instances and conversations apart, and nothing else.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { sessionName } from '../../../src/identity/session-id.ts'
import type { InstanceKey } from '../../../src/store/rows.ts'

const instance: fc.Arbitrary<InstanceKey> = fc.record({
  boot: fc.string(),
  pidns: fc.string(),
  pid: fc.nat(),
  start: fc.string(),
  pidfd: fc.option(fc.string()),
})
const key = fc.tuple(instance, fc.option(fc.string()))

test('it is s- and 32 hex digits, the same each time', () => {
  fc.assert(
    fc.property(key, ([who, conversation]) => {
      expect(sessionName(who, conversation)).toMatch(/^s-[0-9a-f]{32}$/)
      expect(sessionName({ ...who }, conversation)).toBe(sessionName(who, conversation))
    }),
  )
})

test('other facts give another name', () => {
  fc.assert(
    fc.property(key, key, ([a, one], [b, two]) => {
      const same = JSON.stringify([a, one]) === JSON.stringify([b, two])
      expect(sessionName(a, one) === sessionName(b, two)).toBe(same)
    }),
  )
})

test('fields do not run into each other, and absent is not empty', () => {
  const base = { boot: 'b', pidns: 'n', pid: 1, start: '23', pidfd: null }
  const names = [
    sessionName(base, null),
    sessionName(base, ''),
    sessionName({ ...base, pidfd: '' }, null),
    sessionName({ ...base, pid: 12, start: '3' }, null),
    sessionName({ ...base, boot: 'bn', pidns: '' }, null),
    sessionName({ ...base, pidfd: 'k' }, null),
    sessionName(base, 'k'),
  ]
  expect(new Set(names).size).toBe(names.length)
})
