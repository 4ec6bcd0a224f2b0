// What one call may cost: it looks at so many rows and then says has_more, and no list of names is without end.
import { afterEach, beforeEach, expect, spyOn, test } from 'bun:test'
import { fragmentOf } from '../../../src/engine/fragment.ts'
import type { Caller } from '../../../src/engine/mail.ts'
import { LOOKED_AT } from '../../../src/engine/page.ts'
import type { Recipient } from '../../../src/store/rows.ts'
import type { AnswerOf, RequestOf } from '../../../src/wire/operations.ts'
import { post, toAccount, toRoom } from '../../support/population.ts'
import { addressOf, patience, World } from './world.ts'

let world: World
let claude: Caller
let codex: Caller

beforeEach(async () => {
  world = await World.open()
  claude = await world.session(await world.account('claude'))
  codex = await world.session(await world.account('codex'))
})
afterEach(() => world.close())

const MANY = LOOKED_AT + 500

/** Stores letters past the limits of rates, with the body "needle"; their sequences. */
async function many(count: number, from: Caller, recipients: Recipient[], more = {}): Promise<number[]> {
  const text = fragmentOf(from.account.name, from.session.name, null, {
    subject: 's',
    body: 'needle',
    correlation: null,
    refs: [],
    onBehalfOf: null,
    replyTo: null,
    hop: 0,
    wakeSuppressed: null,
    recipients: null,
  })
  const jobs = Array.from({ length: count }, () =>
    post(world.store, from.account, from.session, recipients, { fragment: text, ...more }),
  )
  return (await Promise.all(jobs)).map(({ id }) => id)
}

type List = 'inbox' | 'sent' | 'search'
/** How many letters each page of a list has, to its end. */
async function pages<N extends List>(who: Caller, name: N, request: RequestOf<N>): Promise<number[]> {
  const sizes: number[] = []
  for (let cursor: string | null = null, more = true; more; ) {
    const page: AnswerOf<List> = await world.call(who, name, { ...request, cursor })
    sizes.push(page.messages.length)
    ;({ cursor, has_more: more } = page)
  }
  return sizes
}

test('own room posts: a page passes so many of them, then the next goes on; a wait passes them once', async () => {
  const to = toRoom(world.store, await world.room('build', claude.account, codex.account))
  await many(MANY, claude, to)
  const id = await world.letter(codex, 'claude')
  expect(await world.call(claude, 'unread', {})).toMatchObject({ unread: 1, oldest_age_secs: null })
  expect((await world.call(claude, 'notice', {})).fresh).toBe(0)
  expect((await world.call(claude, 'notice', {})).fresh).toBe(1)
  const first = await world.call(claude, 'inbox', { wait_secs: 5 }, patience(5))
  expect(first).toMatchObject({ messages: [], has_more: true, waited_secs: 0 })
  const second = await world.call(claude, 'inbox', { wait_secs: 5 }, patience(5))
  expect(second.messages.map((message) => message.message_id)).toEqual([id])
  expect(await pages(claude, 'inbox', {})).toEqual([0, 1])
}, 20_000)

test('the state asked for: letters in another state count too', async () => {
  const ids = await many(MANY, claude, [toAccount(codex.account)])
  await world.store.open(codex.account, codex.session, { ids: ids.slice(-3) })
  expect(await pages(codex, 'inbox', { state: 'opened' })).toEqual([0, 3])
  expect(await pages(codex, 'inbox', { state: 'opened', limit: 2 })).toEqual([0, 2, 1])
}, 20_000)

test('a wait does not walk again what it has passed', async () => {
  const ids = await many(300, claude, [toAccount(codex.account)])
  const page = spyOn(world.store, 'page')
  const waiting = world.call(codex, 'inbox', { state: 'opened', wait_secs: 5 }, patience(0.3))
  while (world.waiters.parked(codex.account.box) === 0) await Bun.sleep(1)
  await world.letter(claude, 'codex')
  expect(await waiting).toMatchObject({ messages: [], has_more: false })
  const starts = page.mock.calls.map(([query]) => query.after)
  page.mockRestore()
  expect(starts.length).toBeGreaterThan(2)
  expect(starts.filter((after) => after === 0)).toHaveLength(1)
  expect(starts[1]).toBe(ids.at(-1) ?? 0)
})

test('a few that were passed are looked at again: one of them may have been reopened', async () => {
  const to = toRoom(world.store, await world.room('build', claude.account, codex.account))
  const id = await world.letter(codex, 'claude')
  const sibling = await world.session(claude.account)
  await world.call(sibling, 'ack', { message_id: id })
  await many(100, claude, to)
  const waiting = world.call(claude, 'inbox', { wait_secs: 5 }, patience(5))
  while (world.waiters.parked(claude.session.box) === 0) await Bun.sleep(1)
  await world.call(sibling, 'reopen', { message_id: id })
  expect((await waiting).messages.map((message) => message.message_id)).toEqual([id])
})

test('sent: what siblings sent among themselves counts; search: what was sent to a room that one has left', async () => {
  const sibling = await world.session(claude.account)
  const build = await world.room('build', claude.account, codex.account)
  const to = toRoom(world.store, build)
  await world.letter(claude, addressOf(codex), 'needle')
  await many(1_200, claude, to)
  expect(await pages(codex, 'search', { query: 'needle', limit: 256, max_bytes: 1_000_000 })).toEqual([
    256, 256, 256, 256, 177,
  ])
  await world.store.leave(build, codex.account)
  expect(await pages(codex, 'search', { query: 'needle' })).toEqual([0, 1])
  await many(MANY, sibling, [toAccount(codex.account)], { scope: sibling.session.box })
  const sizes = await pages(claude, 'sent', { limit: 256, max_bytes: 1_000_000 })
  expect(sizes[0]).toBe(0)
  expect(sizes.reduce((sum, size) => sum + size)).toBe(1_201)
}, 30_000)

test('directory: rooms are at most half of an answer, the own ones before others', async () => {
  for (let i = 0; i < 900; i++) await world.room(`room-${String(i).padStart(40, '0')}`)
  await world.room('zebra', claude.account)
  for (const max_bytes of [2_000, 10_000, 40_000]) {
    const answer = await world.call(claude, 'directory', { max_bytes })
    expect(JSON.stringify(answer).length).toBeLessThanOrEqual(max_bytes)
    expect(JSON.stringify(answer.rooms).length).toBeLessThanOrEqual(max_bytes / 2)
    expect(answer).toMatchObject({ rooms_more: true })
    expect(answer.rooms.at(-1)).toEqual({ id: 'zebra', member: true, members: 1 })
    expect(answer.participants.length).toBeGreaterThan(0)
  }
  const all = await world.call(claude, 'directory', { max_bytes: 1_000_000 })
  expect([all.rooms.length, all.rooms_more]).toEqual([901, undefined])
})

test('whoami lists 200 rooms', async () => {
  for (let i = 0; i < 200; i++) await world.room(`r${i}`, claude.account)
  expect((await world.call(claude, 'whoami', {})).rooms_more).toBeUndefined()
  await world.room('one-more', claude.account)
  const { rooms, rooms_more } = await world.call(claude, 'whoami', {})
  expect([rooms.length, rooms_more]).toEqual([200, true])
})

test('send to everybody tells of 100, of each refusal, and how many more there are; so does its repetition', async () => {
  for (let i = 0; i < 120; i++) await world.account(`a${i}`)
  const boss = await world.session(await world.account('boss', { operator: true }))
  const request = { to: ['@all', 'nobody'], subject: 's', body: 'b', idempotency_key: 'k' }
  const { results, more_results } = await world.call(boss, 'send', request)
  expect([results.length, more_results]).toEqual([100, 23])
  expect(results.filter((one) => !one.ok).map((one) => one.to_text)).toEqual(['nobody'])
  const again = await world.call(boss, 'send', request)
  expect([again.duplicate, again.results.length, again.more_results]).toEqual([true, 100, 22])
})
