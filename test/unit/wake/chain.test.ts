// The chain: in order, each refusal kept, nothing called more than it is; and the policy's words about one letter.
import { expect, test } from 'bun:test'
import { notReady, ready, type WakeTarget, woken } from '../../../src/wake/adapter.ts'
import { linksOf, planOf, wakeThrough } from '../../../src/wake/chain.ts'
import { testLetter } from '../../../src/wake/letter.ts'
import { mentions } from '../../../src/wake/policy.ts'
import { TestDoor } from './post-office.ts'

const account = { name: 'ben' } as Parameters<typeof testLetter>[0]
const letter = testLetter(account, null)
const never = new AbortController().signal

const target = (more: Partial<WakeTarget> = {}): WakeTarget => ({
  account: 'ben',
  session: 's-0123',
  row: 1,
  provider: 'claude',
  providerSession: null,
  conversation: null,
  cwd: null,
  exe: null,
  process: { pid: 1, start: '1' },
  attended: true,
  environment: {},
  ...more,
})
const POLICY = { on: [], off: [] }

test('falls through what is not ready and what refuses, and keeps why', async () => {
  const [shut, no, yes, later] = ['shut', 'no', 'yes', 'later'].map((id) => new TestDoor(id))
  if (!shut || !no || !yes || !later) throw new Error()
  shut.probeAnswer = notReady('shut')
  no.answer = woken('refused', 'not now')
  yes.answer = woken('queued', 'at work')
  const result = await wakeThrough(linksOf([shut, no, yes, later], [target()], POLICY), letter, false, never)
  expect(result).toMatchObject({ outcome: 'queued', door: 'yes', busy: false })
  expect(result.tried.map(({ door, outcome, detail }) => [door, outcome, detail])).toEqual([
    ['shut', null, 'shut'],
    ['no', 'refused', 'not now'],
    ['yes', 'queued', 'at work'],
  ])
  expect(later.letters).toHaveLength(0)
})

test('a door that fails ends the chain as unknown: the letter may have arrived', async () => {
  const [bad, next] = [new TestDoor('bad'), new TestDoor('next')]
  bad.answer = new Error('https://secret.example/key')
  const result = await wakeThrough(linksOf([bad, next], [target()], POLICY), letter, false, never)
  expect(result).toMatchObject({ outcome: 'unknown', door: 'bad' })
  expect(JSON.stringify(result)).not.toContain('secret')
  expect(next.letters).toHaveLength(0)
})

test('no door is said to be none, and all that refuse are a refusal', async () => {
  const no = new TestDoor('no')
  no.answer = woken('refused', 'not now')
  expect(await wakeThrough([], letter, false, never)).toMatchObject({ outcome: 'no_door', door: null, tried: [] })
  expect(await wakeThrough(linksOf([no], [target()], POLICY), letter, false, never)).toMatchObject({
    outcome: 'refused',
    door: null,
  })
})

test('in-session first; a new process last, but before what only keeps the letter where nobody lives', async () => {
  const doors = [
    new TestDoor('spawn', 'spawn'),
    new TestDoor('spool', 'spool'),
    new TestDoor('hook', 'hook'),
    new TestDoor('armed', 'armed'),
    new TestDoor('session', 'session'),
  ]
  const order = (one: WakeTarget) => linksOf(doors, [one], POLICY).map(({ adapter }) => adapter.id)
  expect(order(target())).toEqual(['session', 'armed', 'hook', 'spool', 'spawn'])
  expect(order(target({ process: null, attended: false }))).toEqual(['session', 'armed', 'spawn', 'hook', 'spool'])
})

test('a door that has to be allowed is not asked before it is; one that is switched off neither', async () => {
  const [bold, plain] = [new TestDoor('bold', 'session', true), new TestDoor('plain')]
  const why = async (policy: { on: string[]; off: string[] }) =>
    (await planOf(linksOf([bold, plain], [target()], policy))).map(({ why }) => why)
  expect(await why({ on: [], off: ['plain'] })).toEqual([
    'has to be allowed first: mail4agent wake enable',
    'switched off by the policy',
  ])
  expect(await why({ on: ['bold'], off: [] })).toEqual([null, null])
})

test('an agent at work is left alone where that is asked for', async () => {
  const busy = new TestDoor('busy')
  busy.probeAnswer = ready(true)
  expect(await wakeThrough(linksOf([busy], [target()], POLICY), letter, true, never)).toMatchObject({ busy: true })
  expect(busy.letters).toHaveLength(0)
})

test('what mentions an account', () => {
  const says = (body: string, subject = '') => mentions({ subject, body }, 'ben.b')
  for (const text of ['@ben.b', 'hi @BEN.B, look', 'see @ben.b.', 'ben.b: look', '  ben.b, look'])
    expect(says(text)).toBe(true)
  for (const text of ['@ben.bo', '@ben.b.c', 'x@ben.b', '@benxb', 'ben.b', 'not ben.b: no'])
    expect(says(text)).toBe(false)
  expect(says('', 'ping @ben.b')).toBe(true)
})
