// Faults of the mailbox itself, told to its operators: once each, together where they come together, never again until they are over.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { type Fault, failingBells, failingWakes, watchFaults } from '../../../src/delivery/faults.ts'
import type { Caller } from '../../../src/engine/mail.ts'
import { SYSTEM } from '../../../src/store/people/people.ts'
import { World } from '../engine/world.ts'

let world: World
let boss: Caller
let found: Fault[]
let watching: { stop(): Promise<void> }
const errors: unknown[] = []

beforeEach(async () => {
  world = await World.open()
  boss = await world.session(await world.account('boss', { operator: true, read: false }, 'person'))
  found = []
  watching = watch()
})
afterEach(async () => {
  await watching.stop()
  await world.close()
  expect(errors).toEqual([])
})

const watch = () => watchFaults(world.mail, [() => found], (error) => errors.push(error), 2)
const look = () => Bun.sleep(20)
const letters = async () => (await world.call(boss, 'inbox', {})).messages

test('one letter for a fault, however long it lasts, also over a restart; another when it comes again', async () => {
  found = [{ name: 'attestation', text: 'no sock_diag' }]
  await look()
  await watching.stop()
  watching = watch()
  await look()
  const [letter, ...more] = await letters()
  expect(more).toEqual([])
  expect(letter).toMatchObject({ subject: 'fault: attestation', to_text: 'boss', from: { participant: SYSTEM } })
  expect(letter?.body).toContain('no sock_diag')
  found = []
  await look()
  expect(world.store.people.faults()).toEqual([])
  found = [{ name: 'attestation', text: 'again' }]
  await look()
  // nobody has read the first: it is replaced, not joined by a second
  expect(await letters()).toMatchObject([{ updates: 1, subject: 'fault: attestation' }])
})

test('what comes together is one letter', async () => {
  found = ['a', 'b', 'c'].map((name) => ({ name: `doorbell ${name}`, text: 'refused' }))
  await look()
  expect(await letters()).toMatchObject([{ subject: '3 faults of the mailbox' }])
  found.push({ name: 'doorbell d', text: 'refused' })
  await look()
  expect((await letters()).map((one) => one.subject)).toEqual(['3 faults of the mailbox', 'fault: doorbell d'])
})

test('no token is the mailbox itself, nobody writes to it, and it is in no list', async () => {
  found = [{ name: 'x', text: 'y' }]
  await look()
  const [letter] = await letters()
  const refusal = await world.refusal(boss, 'send', { reply_to: letter?.message_id as string, body: 'thanks' })
  expect(refusal).toMatchObject({ kind: 'unknown_participant', message: expect.stringContaining('reads no mail') })
  for (const op of ['directory', 'contacts'] as const)
    expect(JSON.stringify(await world.call(boss, op, {}))).not.toContain(`"${SYSTEM}"`)
  expect(world.store.registry.account(SYSTEM)).toBeUndefined()
  expect(world.store.registry.accountByDigest('none')).toBeUndefined()
  await world.call(boss, 'ack', { message_id: letter?.message_id as string })
  expect(await letters()).toEqual([])
})

test('a doorbell fails for good when it has not succeeded for so long', async () => {
  const account = await world.account('claude')
  await world.store.setListener(account, { url: 'http://127.0.0.1:1/', key: 'k', coalesce: false })
  let health = { pending: 1, lastOk: null as number | null, lastError: 'refused', lastErrorAt: world.mail.now() }
  const source = failingBells({ ...world.mail, bell: () => health }, 60_000)
  expect(source()).toEqual([])
  world.ahead = 61_000
  expect(source()).toMatchObject([{ name: 'doorbell claude', text: expect.stringContaining('refused') }])
  health = { ...health, lastOk: world.mail.now() }
  expect(source()).toEqual([])
})

test('an agent that runs and is not woken for so long is a fault until it has read its mail, or is woken, or has ended', async () => {
  const claude = await world.session(await world.account('claude'))
  const wakes = { ...world.mail.wakes, silent: false }
  const source = failingWakes({ ...world.mail, wakes }, 60_000)
  const wake = async (outcome: string) => {
    await world.call(boss, 'send', { to: 'claude', subject: 's', body: 'b' })
    const message = world.store.events(0, 99).findLast(({ kind }) => kind === 'sent')?.id ?? 0
    const step = { door: 'a-door', session: claude.session.name, outcome: null, detail: 'it is shut', ms: 1 }
    const row = { box: claude.account.box, count: 1, door: null, at: world.mail.now(), ms: 1, tried: [step] }
    await world.store.wakes.addLog({ ...row, message, outcome })
  }
  await wake('no_door')
  expect(source()).toEqual([])
  world.ahead = 50_000
  await wake('refused') // another reason, the same fault
  expect(source()).toEqual([])
  world.ahead = 61_000
  const text = 'mail has not woken it for 1 min: refused, a-door: it is shut. More: mail4agent wake status claude'
  expect(source()).toEqual([{ name: 'wake claude', text }])
  expect(failingWakes({ ...world.mail, wakes: { ...wakes, silent: true } }, 0)()).toEqual([])

  for (const { message_id } of (await world.call(claude, 'inbox', {})).messages)
    await world.call(claude, 'ack', { message_id })
  expect(source()).toEqual([])
  await wake('no_door')
  expect(source()).toEqual([]) // what came before it was read
  world.ahead = 130_000
  expect(source()).toHaveLength(1)
  await wake('started')
  expect(source()).toEqual([])
  await wake('no_door')
  world.ahead = 200_000
  expect(source()).toHaveLength(1)
  await world.end(claude)
  expect(source()).toEqual([])
})
