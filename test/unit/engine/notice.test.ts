// notice: each letter is told once to each session, counted by sender, and nothing that a session knows or must not be woken by.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { Caller } from '../../../src/engine/mail.ts'
import { tellOperators } from '../../../src/engine/system.ts'
import { LIMITS } from '../../../src/wire/limits.ts'
import { addressOf, World } from './world.ts'

let world: World
let sender: Caller
let person: Caller
let reader: Caller

beforeEach(async () => {
  world = await World.open()
  sender = await world.session(await world.account('claude'))
  person = await world.session(await world.account('pat', {}, 'person'))
  reader = await world.session(await world.account('codex'))
})
afterEach(() => world.close())

const notice = (caller: Caller, starts_turn = false) => world.call(caller, 'notice', { starts_turn })

test('tells who wrote and how much, once; the inbox is as it was', async () => {
  await world.letter(sender, 'codex')
  await world.letter(sender, 'codex')
  const last = await world.letter(person, addressOf(reader))
  expect(await notice(reader)).toMatchObject({
    account: 'codex',
    fresh: 3,
    more: false,
    unread: 3,
    senders: [
      { from_text: addressOf(sender), count: 2, person: false },
      { from_text: addressOf(person), count: 1, person: true },
    ],
  })
  expect(await notice(reader)).toMatchObject({ fresh: 0, unread: 3, senders: [] })
  expect(await world.inbox(reader)).toHaveLength(3)
  await world.letter(sender, 'claude') // the notification is written with the next batch
  const { receipts } = await world.call(person, 'receipts', { message_id: last })
  expect(receipts[0]?.deliveries).toMatchObject([{ state: 'new', notified_at: expect.any(String) }])
})

test('each session is told for itself, a later one too; a successor knows what its predecessor knew', async () => {
  await world.letter(sender, 'codex')
  expect((await notice(reader)).fresh).toBe(1)
  const sibling = await world.session(reader.account)
  expect((await notice(sibling)).fresh).toBe(1)
  await world.end(reader)
  const heir = await world.session(reader.account, '', reader.session.id)
  expect((await notice(heir)).fresh).toBe(0)
  await world.letter(sender, 'codex')
  expect((await notice(heir)).fresh).toBe(1)
})

test('what the inbox has shown is no news, nor what is closed', async () => {
  await world.letter(sender, 'codex')
  await world.inbox(reader)
  expect((await notice(reader)).fresh).toBe(0)
  const id = await world.letter(sender, 'codex')
  await world.call(reader, 'ack', { message_id: id })
  expect((await notice(reader)).fresh).toBe(0)
})

test('not told: its own posts, siblings’ session mail, what a sibling has claimed', async () => {
  const sibling = await world.session(reader.account)
  await world.room('build', reader.account, sender.account)
  await world.letter(reader, '#build')
  await world.letter(reader, 'codex')
  await world.letter(sender, addressOf(sibling))
  const claimed = await world.letter(sender, 'codex')
  await world.call(sibling, 'claim', { message_id: claimed })
  expect((await notice(reader)).fresh).toBe(0)
  expect((await notice(sibling)).fresh).toBe(4)
})

test('mail that must wake nobody is left out where the notice starts a turn, and told at the next prompt', async () => {
  let id = await world.letter(sender, 'codex')
  for (let hop = 1; hop <= LIMITS.hopQuiet + 1; hop++) {
    const from = hop % 2 === 1 ? reader : sender
    if (hop > 1) await world.inbox(from, { limit: 256 })
    id = (await world.call(from, 'send', { reply_to: id, body: 'x' })).message_id
  }
  expect((await world.call(reader, 'get', { message_id: id, peek: true })).wake_suppressed).toBe('hop')
  await world.letter(reader, 'claude')
  expect((await notice(sender, true)).fresh).toBe(0)
  expect((await notice(sender)).fresh).toBe(2)
  expect((await notice(sender)).fresh).toBe(0)
})

test('a full mailbox costs no more: beyond a bound it is only said that there is more', async () => {
  for (let n = 0; n < 205; n++) await world.letter(sender, 'codex')
  expect(await notice(reader)).toMatchObject({ fresh: 200, more: true, unread: 205 })
  expect(await notice(reader)).toMatchObject({ fresh: 0, more: false })
})

test('what the mailbox itself wrote is from mail4agent, and from no person', async () => {
  const boss = await world.session(await world.account('boss', { operator: true }, 'person'))
  const fault = { upsert: null, subject: 'fault: attestation', body: 'it fails' }
  for (const key of ['fault.1', 'fault.2']) await tellOperators(world.mail, { key, ...fault })
  expect(await notice(boss, true)).toMatchObject({
    fresh: 2,
    senders: [{ from_text: 'mail4agent', count: 2, person: false }],
  })
})
