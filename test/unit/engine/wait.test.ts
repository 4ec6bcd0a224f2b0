// Waiting: what ends a wait, what does not, the cap, and the client that leaves.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { Caller } from '../../../src/engine/mail.ts'
import { LIMITS } from '../../../src/wire/limits.ts'
import { addressOf, patience, World } from './world.ts'

let world: World
let claude: Caller
let codex: Caller
let sibling: Caller

beforeEach(async () => {
  world = await World.open()
  claude = await world.session(await world.account('claude'))
  codex = await world.session(await world.account('codex'))
  sibling = await world.session(codex.account)
  await world.room('build', claude.account, codex.account)
})
afterEach(() => world.close())

const ids = (answer: { messages: { message_id: string }[] }) => answer.messages.map((message) => message.message_id)
const wait = (who: Caller, more: object = {}, held = patience(5)) =>
  world.call(who, 'inbox', { wait_secs: 60, ...more }, held)
const parked = async (who: Caller, count = 1) => {
  while (world.waiters.parked(who.session.box) < count) await Bun.sleep(1)
}

test('without a cursor: ends for mail that this session was not given yet', async () => {
  const first = await world.letter(claude, 'codex')
  expect(ids(await wait(codex))).toEqual([first])
  const waiting = wait(codex)
  await parked(codex)
  const second = await world.letter(claude, 'codex')
  const answer = await waiting
  expect(ids(answer)).toEqual([second])
  expect(answer.waited_secs).toBeLessThan(5)
  expect(answer.unread).toBe(2)
  expect(ids(await wait(sibling))).toEqual([first, second])
})

test('with a cursor: ends for mail past it, at once if it is there', async () => {
  const first = await world.letter(claude, 'codex')
  const { cursor } = await world.call(codex, 'inbox', {})
  const waiting = wait(codex, { cursor })
  await parked(codex)
  const second = await world.letter(claude, addressOf(codex))
  expect(ids(await waiting)).toEqual([second])
  expect(ids(await wait(codex, { cursor }))).toEqual([second])
  expect(first).not.toBe(second)
})

test('expiry is an empty page, never an error; the cap clamps and the answer says how long it was', async () => {
  const answer = await wait(codex, {}, patience(0.05))
  expect(answer).toMatchObject({ messages: [], cursor: null, has_more: false, unread: 0 })
  expect(answer.waited_secs).toBeGreaterThanOrEqual(0.04)
  expect(answer.waited_secs).toBeLessThan(1)
  const { cursor } = await world.call(claude, 'inbox', { wait_secs: 0 })
  expect(cursor).toBeNull()
})

test('own room posts, mail of others and acknowledgements do not end a wait', async () => {
  const old = await world.letter(claude, 'codex')
  await world.call(codex, 'inbox', {})
  const waiting = wait(codex, {}, patience(0.3))
  await parked(codex)
  await world.letter(codex, '#build')
  await world.letter(claude, addressOf(sibling))
  await world.call(sibling, 'ack', { message_id: old })
  expect((await waiting).messages).toEqual([])
})

test('mail that a sibling claimed does not end a wait', async () => {
  const id = await world.letter(claude, 'codex')
  await world.call(sibling, 'claim', { message_id: id })
  expect((await wait(codex, {}, patience(0.05))).messages).toEqual([])
})

test('a reader with the older since_unix_ms gets each message once and then waits', async () => {
  const first = await world.letter(claude, 'codex')
  const since_unix_ms = (await world.call(codex, 'get', { message_id: first, peek: true })).created_at_unix_ms
  expect(ids(await wait(codex, { since_unix_ms }))).toEqual([first])
  expect((await wait(codex, { since_unix_ms }, patience(0.05))).messages).toEqual([])
  const second = await world.letter(claude, 'codex')
  expect(ids(await wait(codex, { since_unix_ms }))).toEqual([second])
  expect(ids(await world.call(codex, 'inbox', { since_unix_ms }))).toEqual([first, second])
})

test('a client that leaves frees its waiter and was given nothing', async () => {
  const leave = new AbortController()
  const waiting = wait(codex, {}, patience(5, leave.signal))
  await parked(codex)
  leave.abort()
  await waiting
  expect(world.waiters.size).toBe(0)
  const gone = new AbortController()
  gone.abort()
  const id = await world.letter(claude, 'codex')
  await wait(codex, {}, patience(5, gone.signal))
  expect(ids(await wait(codex))).toEqual([id])
})

test('one send answers a thousand parked readers', async () => {
  const readers = Array.from({ length: 1000 }, () => wait(codex, {}, patience(60)))
  await parked(codex, readers.length)
  const id = await world.letter(claude, 'codex')
  for (const answer of await Promise.all(readers)) expect(ids(answer)).toEqual([id])
})

test('an account that loses its right while it waits is told nothing', async () => {
  const waiting = wait(codex).catch((error) => error)
  await parked(codex)
  await world.store.changeAccount(codex.account, { can: { read: false } })
  await world.letter(claude, 'codex')
  expect((await waiting).kind).toBe('permission_denied')
  const removed = wait(claude).catch((error) => error)
  await parked(claude)
  await world.store.changeAccount(claude.account, { digest: 'f'.repeat(64) })
  await world.letter(sibling, 'claude')
  expect((await removed).kind).toBe('unauthenticated')
})

test('a shutdown answers every wait', async () => {
  const waiting = wait(codex)
  await parked(codex)
  world.waiters.stop()
  expect((await waiting).messages).toEqual([])
})

test('an account has so many waits and no more; those of others are none of its', async () => {
  const gone = new AbortController()
  const boxes = [codex.session.box, codex.account.box]
  for (let at = 0; at < LIMITS.waitsAccount; at++) void world.waiters.wait(boxes, 60_000, gone.signal, () => false)
  const refusal = await wait(sibling).then(
    () => null,
    (error: unknown) => error,
  )
  expect(refusal).toMatchObject({ kind: 'too_many', status: 429, facts: { limit: LIMITS.waitsAccount } })
  expect(await wait(claude, {}, patience(0.02))).toMatchObject({ messages: [] })
  // what is there already needs no wait
  const id = await world.letter(claude, 'codex')
  expect(ids(await wait(sibling))).toEqual([id])
  gone.abort()
  const again = await world.call(codex, 'inbox', { state: 'closed', wait_secs: 60 }, patience(0.02))
  expect(again).toMatchObject({ messages: [] })
})
