// inbox: what a page does to the mail on it, what a passing cursor opens, claims, states.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { Caller } from '../../../src/engine/mail.ts'
import { addressOf, World } from './world.ts'

let world: World
let claude: Caller
let codex: Caller
let sibling: Caller

beforeEach(async () => {
  world = await World.open()
  claude = await world.session(await world.account('claude'))
  codex = await world.session(await world.account('codex'))
  sibling = await world.session(codex.account)
})
afterEach(() => world.close())

const receipt = async (message_id: string) =>
  (await world.call(claude, 'receipts', { message_id })).receipts[0]?.deliveries[0]

test('an answer sets notified and nothing else; a cursor that passes a letter opens it', async () => {
  const id = await world.letter(claude, 'codex')
  const { cursor } = await world.call(codex, 'inbox', {})
  // the first telling is written in the background
  await world.letter(claude, 'codex')
  expect(await receipt(id)).toMatchObject({ state: 'new', notified_at: expect.any(String) })
  expect((await world.call(codex, 'inbox', {})).messages).toHaveLength(2)
  expect((await receipt(id))?.state).toBe('new')
  await world.call(codex, 'inbox', { cursor })
  expect(await receipt(id)).toMatchObject({ state: 'opened', opened_by: addressOf(codex) })
})

test('a cursor opens only what this session was given whole', async () => {
  const cut = await world.letter(claude, 'codex', 'x'.repeat(5_000))
  const whole = await world.letter(claude, 'codex')
  const first = await world.call(codex, 'inbox', { max_bytes: 3_000 })
  expect(first.messages[0]?.body_truncated).toBe(true)
  const second = await world.call(codex, 'inbox', { max_bytes: 3_000, cursor: first.cursor })
  // another session comes with this one's cursor: it was given nothing
  await world.call(sibling, 'inbox', { cursor: second.cursor })
  expect((await receipt(whole))?.state).toBe('new')
  await world.call(codex, 'inbox', { cursor: second.cursor })
  expect((await receipt(cut))?.state).toBe('new')
  expect(await receipt(whole)).toMatchObject({ state: 'opened', opened_by: addressOf(codex) })
  await world.call(codex, 'get', { message_id: cut })
  expect((await receipt(cut))?.state).toBe('opened')
})

test('a filtered page does not count as given', async () => {
  const id = await world.letter(claude, 'codex')
  const { cursor } = await world.call(codex, 'inbox', { state: 'all' })
  await world.call(codex, 'inbox', { cursor })
  expect((await receipt(id))?.state).toBe('new')
})

test('get opens, peek does not; who reads its own sent message changes nothing', async () => {
  const id = await world.letter(claude, 'codex')
  expect((await world.call(claude, 'get', { message_id: id })).state).toBeUndefined()
  expect((await world.call(codex, 'get', { message_id: id, peek: true })).state).toBe('new')
  expect((await receipt(id))?.state).toBe('new')
  expect(await world.call(codex, 'get', { message_id: id })).toMatchObject({
    state: 'opened',
    opened_by: addressOf(codex),
    notified_at: expect.any(String),
  })
})

test('states: open is the default, closed and all are asked for', async () => {
  const [fresh, opened, closed] = [
    await world.letter(claude, 'codex'),
    await world.letter(claude, 'codex'),
    await world.letter(claude, 'codex'),
  ]
  await world.call(codex, 'get', { message_id: opened })
  await world.call(codex, 'ack', { message_id: closed })
  expect(await world.inbox(codex)).toEqual([fresh, opened])
  expect(await world.inbox(codex, { state: 'open' })).toEqual([fresh, opened])
  expect(await world.inbox(codex, { state: 'new' })).toEqual([fresh])
  expect(await world.inbox(codex, { state: 'opened' })).toEqual([opened])
  expect(await world.inbox(codex, { state: 'closed' })).toEqual([closed])
  expect(await world.inbox(codex, { state: 'all' })).toEqual([fresh, opened, closed])
})

test("a claim keeps account mail out of a sibling's default inbox, and ends by itself", async () => {
  const id = await world.letter(claude, 'codex')
  const claimed = await world.call(codex, 'claim', { message_id: id, claim_secs: 60 })
  expect(claimed.claimed_until).toEqual(expect.any(String))
  expect(await world.inbox(sibling)).toEqual([])
  expect((await world.call(sibling, 'inbox', {})).unread).toBe(1)
  expect((await world.call(sibling, 'inbox', { state: 'all' })).messages).toMatchObject([
    { message_id: id, claimed_by: addressOf(codex), claimed_until: claimed.claimed_until },
  ])
  expect(await world.inbox(codex)).toEqual([id])
  expect((await receipt(id))?.claimed_by).toBe(addressOf(codex))
  world.ahead = 61_000
  expect(await world.inbox(sibling)).toEqual([id])
})

test('what a page kept back because of a claim is not opened by its cursor', async () => {
  const held = await world.letter(claude, 'codex')
  await world.letter(claude, 'codex')
  await world.call(codex, 'claim', { message_id: held })
  const { cursor } = await world.call(sibling, 'inbox', {})
  await world.call(sibling, 'inbox', { cursor })
  expect((await receipt(held))?.state).toBe('new')
})

test('a claim ends with its session', async () => {
  const id = await world.letter(claude, 'codex')
  await world.call(codex, 'claim', { message_id: id })
  await world.end(codex)
  expect(await world.inbox(sibling)).toEqual([id])
})

test('a process that is gone is seen as such before anybody recorded its end', async () => {
  const id = await world.letter(claude, addressOf(codex))
  expect((await world.call(sibling, 'inbox', {})).orphaned).toBeUndefined()
  world.gone.add(codex.session.id)
  expect((await world.call(sibling, 'inbox', {})).orphaned).toMatchObject({ count: 1, letters: [{ message_id: id }] })
  expect((await world.call(claude, 'inbox', {})).orphaned).toBeUndefined()
})

test('many orphans: the count is whole, the letters are few and fit the budget', async () => {
  for (let i = 0; i < 15; i++) await world.letter(claude, addressOf(codex))
  await world.end(codex)
  const { orphaned } = await world.call(sibling, 'inbox', {})
  expect(orphaned?.count).toBe(15)
  expect(orphaned?.letters).toHaveLength(10)
  const narrow = await world.call(sibling, 'inbox', { max_bytes: 2_000 })
  expect(narrow.orphaned?.count).toBe(15)
  expect(JSON.stringify(narrow).length).toBeLessThanOrEqual(2_000)
})
