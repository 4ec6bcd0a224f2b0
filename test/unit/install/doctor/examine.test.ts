// Checks run together and each to its deadline; whatever one does, the others are heard, and mending ends.
import { expect, test } from 'bun:test'
import type { Check, Checkup } from '../../../../src/install/doctor/checkup.ts'
import { examine } from '../../../../src/install/doctor/examine.ts'
import { type Found, fail, fine } from '../../../../src/install/doctor/finding.ts'
import { mend } from '../../../../src/install/doctor/mend.ts'
import { Refusal } from '../../../../src/wire/refusal.ts'

/** None of these checks looks at anything. */
const checkup = { call: 'mail4agent' } as Checkup

const check = (
  name: string,
  run: () => Found | Found[] | Promise<Found | Found[]>,
  more: Partial<Check> = {},
): Check => ({
  name,
  deadline: 5_000,
  run,
  ...more,
})
const throwing = (error: unknown) => () => {
  throw error
}

test('one that throws, is refused or hangs becomes a finding of its own, in the order of the table', async () => {
  const examined = await examine(
    [
      check('throws', throwing(new Error('EACCES: permission denied, open /x'))),
      check('odd', throwing('a text')),
      check('refused', throwing(new Refusal('damaged_store', 'it is torn', { path: '/p' }))),
      check('hangs', () => new Promise<Found>(() => {}), { deadline: 20 }),
      check('several', () => [fine('one'), { ...fail('two', 'mend it'), of: 'thing' }]),
    ],
    checkup,
  )
  const findings = examined.map(({ finding }) => finding)
  expect(findings.map(({ check, level }) => `${check} ${level}`)).toEqual([
    'throws fail',
    'odd fail',
    'refused fail',
    'hangs fail',
    'several ok',
    'several thing fail',
  ])
  expect(findings.map(({ what }) => what).slice(0, 4)).toEqual([
    'could not be looked at: EACCES: permission denied',
    'could not be looked at: a text',
    'could not be looked at: it is torn',
    'could not be looked at within 0.02 s',
  ])
  expect(findings[2]).toMatchObject({ todo: expect.stringContaining('admin restore'), facts: { path: '/p' } })
})

test('checks run at the same time, and one that wants to be alone after them', async () => {
  const events: string[] = []
  const step = (name: string) => async () => {
    events.push(`${name} begins`)
    await Bun.sleep(5)
    events.push(`${name} ends`)
    return fine(name)
  }
  const open: string[] = []
  await examine(
    [check('c', step('c'), { alone: true }), check('a', step('a')), check('b', step('b'))],
    checkup,
    (names) => open.push(names.join(' ')),
  )
  expect(events).toEqual(['a begins', 'b begins', 'a ends', 'b ends', 'c begins', 'c ends'])
  expect([open[0], open.at(-2), open.at(-1)]).toEqual(['c a b', 'c', ''])
})

test('what hides behind a fault is mended in the next round, and nothing twice', async () => {
  let round = 0
  const look = () => {
    round++
    return examine(
      [
        check('first', () => (round === 1 ? fail('shut', 'open it', {}, () => ['opened']) : fine('open'))),
        check('second', () => (round === 1 ? fine('not seen') : fail('dirty', 'wash it', {}, async () => ['washed']))),
        check('third', () => fail('lost', 'look for it', {}, throwing(new Error('it is nowhere')))),
      ],
      checkup,
    )
  }
  const { fixed, unfixed, examined } = await mend(await look(), look)
  expect(fixed).toEqual(['opened', 'washed'])
  expect(unfixed).toEqual([{ check: 'third', reason: 'it is nowhere', todo: 'look for it' }])
  expect(examined.map(({ finding }) => finding.level)).toEqual(['ok', 'fail', 'fail'])
  expect(round).toBe(3)
})

test('where nothing can be mended, nothing is looked at again', async () => {
  const first = await examine([check('a', () => fail('broken', 'buy another'))], checkup)
  const { examined } = await mend(first, () => Promise.reject(new Error('looked again')))
  expect(examined).toBe(first)
})

test('what could not be mended is not tried again, also when it then looks otherwise', async () => {
  let tries = 0
  let looks = 0
  const stuck = () =>
    fail(`looked at ${++looks} times`, 'do it by hand', {}, () => {
      tries++
      throw new Error('no')
    })
  const look = () => examine([check('stuck', stuck)], checkup)
  expect((await mend(await look(), look)).unfixed).toHaveLength(1)
  expect(tries).toBe(1)
})
