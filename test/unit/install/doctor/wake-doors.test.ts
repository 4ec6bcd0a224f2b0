// What the doctor says of an agent's doors: the first that is ready, or every reason why none is, unless it is to sleep.
import { expect, test } from 'bun:test'
import { usualPolicy } from '../../../../src/engine/wake/policy.ts'
import { wakeFinding } from '../../../../src/install/doctor/wake-doors.ts'
import type { PlannedDoor, WakePolicy } from '../../../../src/wire/wake.ts'

const door = (name: string, why: string | null, more: Partial<PlannedDoor> = {}): PlannedDoor => ({
  door: name,
  tier: 'session',
  account: 'codex',
  session: null,
  ready: why === null,
  busy: false,
  opt_in: false,
  why,
  ...more,
})
const usual = usualPolicy({ kind: 'agent' })
const said = (doors: PlannedDoor[], policy: Partial<WakePolicy> = {}) => {
  const { level, what, todo } = wakeFinding('mail4agent', 'codex', doors, { ...usual, ...policy })
  return [level, what, todo]
}

test('the first door that is ready', () => {
  expect(said([door('a', 'gone'), door('b', null, { busy: true }), door('c', null)])).toEqual([
    'ok',
    'mail wakes codex through b, and it is at work',
    null,
  ])
})

test('one that only keeps the letter wakes nobody', () => {
  expect(said([door('a', 'gone'), door('b', null, { tier: 'hook' })])[1]).toBe(
    'mail waits for codex at b, which starts no turn of it: an idle agent is not woken',
  )
})

test('none is ready: each says why, the same reason once', () => {
  expect(said([door('a', 'gone'), door('a', 'gone', { session: 's-1' }), door('b', 'not allowed')])).toEqual([
    'warn',
    'mail cannot wake codex: a: gone; b: not allowed',
    'mail4agent wake plan codex',
  ])
  expect(said([])).toEqual(['warn', 'mail cannot wake codex: there is no door to it', 'mail4agent wake plan codex'])
})

test('what was switched off is no fault, a policy that cannot be read is one', () => {
  for (const off of [{ enabled: false }, { mode: 'off' }] as const)
    expect(said([door('a', 'gone')], off)).toEqual(['ok', 'mail does not wake codex, as was set', null])
  expect(said([door('a', null)], { damaged: 'it is not JSON' })).toEqual([
    'warn',
    'nothing wakes codex, as its policy cannot be read: it is not JSON',
    'mail4agent wake status codex',
  ])
})
