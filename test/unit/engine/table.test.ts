// Who gets a delivery, who sees it and what settles it: every cell of the table in the README, "The mailbox".
import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { Caller } from '../../../src/engine/mail.ts'
import { addressOf, World } from './world.ts'

let world: World
let sender: Caller
let first: Caller
let second: Caller
let outsider: Caller

beforeEach(async () => {
  world = await World.open()
  sender = await world.session(await world.account('claude'))
  const codex = await world.account('codex')
  first = await world.session(codex)
  second = await world.session(codex)
  outsider = await world.session(await world.account('gemini'))
  await world.room('build', sender.account, codex)
})
afterEach(() => world.close())

const later = () => world.session(first.account)
const deliveriesOf = async (id: string) =>
  (await world.call(sender, 'receipts', { message_id: id })).receipts[0]?.deliveries ?? []

test('account mail: one delivery, seen by every session, also by a later one', async () => {
  const id = await world.letter(sender, 'codex')
  expect(await deliveriesOf(id)).toHaveLength(1)
  for (const reader of [first, second, await later()]) expect(await world.inbox(reader)).toEqual([id])
  expect(await world.inbox(outsider)).toEqual([])
  expect(await world.inbox(sender)).toEqual([])
})

test('account mail: the first ack settles it for the account; a sibling learns who was there', async () => {
  const id = await world.letter(sender, 'codex')
  await world.call(first, 'get', { message_id: id })
  const shown = await world.call(second, 'inbox', {})
  expect(shown.messages[0]).toMatchObject({ state: 'opened', opened_by: addressOf(first) })
  const done = await world.call(first, 'ack', { message_id: id })
  for (const reader of [first, second, await later()]) expect(await world.inbox(reader)).toEqual([])
  const again = await world.call(second, 'ack', { message_id: id })
  expect(again.acked_at).toBe(done.acked_at)
  expect(again.reader).toEqual({ kind: 'session', participant: 'codex', session: first.session.name })
  expect(await deliveriesOf(id)).toMatchObject([
    { to_text: 'codex', state: 'closed', closed_by: addressOf(first), close_reason: 'acknowledged' },
  ])
})

test('session mail: seen by that session alone, settled by it alone', async () => {
  const id = await world.letter(sender, addressOf(first))
  expect(await world.inbox(first)).toEqual([id])
  for (const other of [second, await later(), outsider]) {
    expect(await world.inbox(other)).toEqual([])
    expect((await world.refusal(other, 'get', { message_id: id })).kind).toBe('unknown_message')
    expect((await world.refusal(other, 'ack', { message_id: id })).kind).toBe('unknown_message')
  }
  await world.call(first, 'ack', { message_id: id })
  expect(await deliveriesOf(id)).toMatchObject([{ to_text: addressOf(first), state: 'closed' }])
})

test('session mail: its successor has it; the predecessor as an address reaches the successor', async () => {
  const id = await world.letter(sender, addressOf(first))
  await world.end(first)
  const heir = await world.session(first.account, '', first.session.id)
  expect(await world.inbox(heir)).toEqual([id])
  const shown = await world.call(heir, 'inbox', {})
  expect(shown.messages[0]?.to_text).toBe(addressOf(first))
  const answer = await world.call(sender, 'send', { to: addressOf(first), subject: 's', body: 'b' })
  expect(answer.results).toMatchObject([{ to_text: addressOf(heir), ok: true, state: 'new' }])
  expect(answer.results[0]?.warning).toBeUndefined()
  expect(await world.inbox(heir)).toEqual([id, answer.message_id])
  expect(await world.inbox(second)).toEqual([])
})

test('session mail of an ended session: orphaned for the account, session_ended for the sender, released by an operator', async () => {
  const id = await world.letter(sender, addressOf(first), 'secret words')
  await world.end(first)
  const seen = await world.call(second, 'inbox', {})
  expect(seen.messages).toEqual([])
  expect(seen.orphaned).toEqual({
    count: 1,
    letters: [
      { message_id: id, from_text: addressOf(sender), to_text: addressOf(first), created_at: expect.any(String) },
    ],
  })
  expect(JSON.stringify(seen)).not.toContain('secret words')
  expect((await world.refusal(second, 'get', { message_id: id })).kind).toBe('unknown_message')
  expect(await deliveriesOf(id)).toMatchObject([{ state: 'new', session_ended: true }])
  await world.store.release(first.session)
  expect(await world.inbox(second)).toEqual([id])
  expect((await world.call(second, 'inbox', {})).orphaned).toBeUndefined()
  await world.call(second, 'ack', { message_id: id })
  expect(await deliveriesOf(id)).toMatchObject([{ state: 'closed', closed_by: addressOf(second) }])
})

test('room mail: one delivery for each member account, seen by every session but the sender', async () => {
  const sibling = await world.session(sender.account)
  const id = await world.letter(sender, '#build')
  for (const reader of [first, second, sibling]) {
    const page = await world.call(reader, 'inbox', {})
    expect(page.messages).toMatchObject([{ message_id: id, to_text: '#build', state: 'new' }])
    expect(page.unread).toBe(1)
  }
  const own = await world.call(sender, 'inbox', { state: 'all' })
  expect(own).toMatchObject({ messages: [], unread: 0 })
  expect((await world.refusal(sender, 'ack', { message_id: id })).kind).toBe('unknown_message')
  expect((await world.call(sender, 'get', { message_id: id })).state).toBeUndefined()
  expect(await world.inbox(outsider)).toEqual([])
})

test('room mail: an ack settles it for the acking session; receipts show the first', async () => {
  const id = await world.letter(sender, '#build')
  await world.call(first, 'ack', { message_id: id })
  expect(await world.inbox(first)).toEqual([])
  expect(await world.inbox(second)).toEqual([id])
  expect(await world.inbox(await later())).toEqual([])
  await world.call(second, 'ack', { message_id: id })
  expect(await world.inbox(second)).toEqual([])
  expect(await deliveriesOf(id)).toMatchObject([{ to_text: '#build', state: 'closed', closed_by: addressOf(first) }])
})

test('room mail: a session that registers later sees it until some session has closed it', async () => {
  const id = await world.letter(sender, '#build')
  const third = await later()
  expect(await world.inbox(third)).toEqual([id])
  await world.call(first, 'ack', { message_id: id })
  expect(await world.inbox(third)).toEqual([id])
  const fourth = await later()
  expect(await world.inbox(fourth)).toEqual([])
  expect(await world.inbox(fourth, { state: 'closed' })).toEqual([id])
})

test('room mail: who leaves loses it, who comes back has it again', async () => {
  const id = await world.letter(sender, '#build')
  const closed = await world.letter(sender, '#build')
  await world.call(first, 'ack', { message_id: closed })
  const room = world.store.registry.room('build')
  if (!room) throw new Error('no room')
  await world.store.leave(room, first.account)
  for (const state of ['open', 'closed', 'all'] as const) expect(await world.inbox(second, { state })).toEqual([])
  for (const message_id of [id, closed])
    expect((await world.refusal(first, 'get', { message_id })).kind).toBe('unknown_message')
  expect((await world.refusal(first, 'send', { to: '#build', subject: 's', body: '' })).kind).toBe('not_a_member')
  expect(await world.call(second, 'unread', {})).toMatchObject({ unread: 0 })
  await world.store.join(room, first.account)
  expect(await world.inbox(first)).toEqual([id])
  expect(await world.inbox(second)).toEqual([id, closed])
})

test('closed mail stays readable by id, thread and search', async () => {
  const id = await world.letter(sender, 'codex', 'find the walrus')
  await world.call(first, 'ack', { message_id: id })
  expect((await world.call(second, 'get', { message_id: id })).state).toBe('closed')
  expect((await world.call(second, 'thread', { message_id: id })).messages).toHaveLength(1)
  expect((await world.call(second, 'search', { query: 'walrus' })).messages).toHaveLength(1)
})
