// sent, thread, search and receipts.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { Caller } from '../../../src/engine/mail.ts'
import { addressOf, World } from './world.ts'

let world: World
let claude: Caller
let codex: Caller
let gemini: Caller

beforeEach(async () => {
  world = await World.open()
  claude = await world.session(await world.account('claude'))
  codex = await world.session(await world.account('codex'))
  gemini = await world.session(await world.account('gemini'))
  await world.room('build', claude.account, codex.account, gemini.account)
})
afterEach(() => world.close())

test('sent: newest first, by every session of the account, with what became of each copy', async () => {
  const first = await world.letter(claude, 'codex')
  const sibling = await world.session(claude.account)
  const second = await world.letter(sibling, '#build')
  await world.call(codex, 'ack', { message_id: first })
  const { messages } = await world.call(claude, 'sent', {})
  expect(messages).toMatchObject([
    {
      message_id: second,
      to_text: '#build',
      deliveries: [
        { to_text: '#build', state: 'new' },
        { to_text: '#build', state: 'new' },
      ],
    },
    { message_id: first, deliveries: [{ state: 'closed', closed_by: addressOf(codex) }] },
  ])
  const page = await world.call(claude, 'sent', { limit: 1 })
  expect(page.has_more).toBe(true)
  const rest = await world.call(claude, 'sent', { limit: 1, cursor: page.cursor })
  expect(rest).toMatchObject({ messages: [{ message_id: first }], has_more: false })
})

test('thread: oldest first from any of its messages, without what the caller may not read', async () => {
  const root = await world.letter(claude, '#build')
  const aside = await world.call(codex, 'send', { reply_to: root, to: 'claude', body: 'between us' })
  const last = await world.call(gemini, 'send', { reply_to: root, body: 'to all' })
  const seen = async (who: Caller, message_id: string) =>
    (await world.call(who, 'thread', { message_id })).messages.map((message) => message.message_id)
  expect(await seen(claude, last.message_id)).toEqual([root, aside.message_id, last.message_id])
  expect(await seen(gemini, root)).toEqual([root, last.message_id])
  expect((await world.refusal(gemini, 'thread', { message_id: aside.message_id })).kind).toBe('unknown_message')
  const page = await world.call(claude, 'thread', { message_id: root, limit: 2 })
  expect(page.has_more).toBe(true)
  const rest = await world.call(claude, 'thread', { message_id: root, limit: 2, cursor: page.cursor })
  expect(rest).toMatchObject({ messages: [{ message_id: last.message_id }], has_more: false })
})

test('search: newest first, any text as a query', async () => {
  const first = await world.letter(claude, 'codex', 'the build is red: foo_bar() failed')
  const second = await world.letter(codex, 'claude', 'The Build is green')
  await world.letter(claude, 'gemini', 'nothing')
  const find = async (who: Caller, query: string) =>
    (await world.call(who, 'search', { query })).messages.map((message) => message.message_id)
  expect(await find(claude, 'build')).toEqual([second, first])
  expect(await find(codex, '"is red"')).toEqual([first])
  expect(await find(gemini, 'build')).toEqual([])
  for (const query of ['foo"bar', 'a AND', '(', '*', '-', 'NEAR(', 'who:b1', "'"]) await find(claude, query)
  expect((await world.refusal(claude, 'search', { query: 'a\nb' })).facts.field).toBe('query')
  const page = await world.call(claude, 'search', { query: 'build', limit: 1 })
  expect(page.has_more).toBe(true)
  const rest = await world.call(claude, 'search', { query: 'build', limit: 1, cursor: page.cursor })
  expect(rest).toMatchObject({ messages: [{ message_id: first }], has_more: false })
})

test('receipts: of all that was sent, or of one; a reader sees only its own copy', async () => {
  const room = await world.letter(claude, '#build')
  const direct = await world.letter(claude, 'codex')
  await world.call(gemini, 'get', { message_id: room })
  const { receipts } = await world.call(claude, 'receipts', {})
  expect(receipts.map((one) => one.message_id)).toEqual([direct, room])
  expect(receipts[1]?.deliveries).toMatchObject([
    { to_text: '#build', participant: 'codex', state: 'new' },
    { to_text: '#build', participant: 'gemini', state: 'opened', opened_by: addressOf(gemini) },
  ])
  expect((await world.call(codex, 'receipts', { message_id: room })).receipts[0]?.deliveries).toMatchObject([
    { participant: 'codex' },
  ])
  expect((await world.refusal(gemini, 'receipts', { message_id: direct })).kind).toBe('unknown_message')
})

test('get tells the time, and the receipt of a room whose copy it is, as their schemas say', async () => {
  const message_id = await world.letter(claude, '#build')
  const { now, age_secs } = await world.call(codex, 'get', { message_id })
  expect([new Date(now).toISOString(), age_secs]).toEqual([now, 0])
  const [receipt] = (await world.call(claude, 'receipts', { message_id })).receipts
  const whose: (string | undefined)[] = receipt?.deliveries.map(({ participant }) => participant) ?? []
  expect(whose).toEqual(['codex', 'gemini'])
})

test('receipts of very many copies stay within the budget', async () => {
  const names = Array.from({ length: 90 }, (_, index) => `reader${index}`)
  for (const name of names) await world.account(name)
  const { message_id } = await world.call(claude, 'send', { to: names, subject: 's', body: 'b' })
  const answer = await world.call(claude, 'receipts', { message_id, max_bytes: 5_000 })
  expect(JSON.stringify(answer).length).toBeLessThanOrEqual(5_000)
  expect(answer.receipts[0]?.deliveries.length).toBeGreaterThan(10)
  expect((await world.call(claude, 'receipts', { message_id })).receipts[0]?.deliveries).toHaveLength(90)
})
