// archive: closed mail newest first, by sender, room and time, a page at a time; and nothing of what is not the reader's.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { Caller } from '../../../src/engine/mail.ts'
import type { RequestOf } from '../../../src/wire/operations.ts'
import { addressOf, World } from './world.ts'

let world: World
let ann: Caller
let bob: Caller
let sibling: Caller
let cleo: Caller
beforeEach(async () => {
  world = await World.open()
  ann = await world.session(await world.account('ann'))
  const account = await world.account('Bob')
  bob = await world.session(account)
  sibling = await world.session(account)
  cleo = await world.session(await world.account('cleo'))
  await world.room('build', ann.account, account)
})
afterEach(() => world.close())

const archive = async (caller: Caller, request: RequestOf<'archive'> = {}) =>
  (await world.call(caller, 'archive', request)).messages.map((message) => message.message_id)
const close = (caller: Caller, ...ids: string[]) => world.call(caller, 'ack', { message_ids: ids })

test('newest first, in pages, closed mail alone', async () => {
  const ids: string[] = []
  for (let index = 0; index < 70; index++) ids.push(await world.letter(index % 2 ? ann : cleo, 'bob', `${index}`))
  await close(bob, ...ids.slice(0, 60))
  const all = ids.slice(0, 60).reverse()
  expect(await archive(bob, { limit: 100, max_bytes: 100_000 })).toEqual(all)
  const found: string[] = []
  for (let cursor: string | null = null, more = true; more; ) {
    const page: Awaited<ReturnType<typeof world.call<'archive'>>> = await world.call(bob, 'archive', {
      limit: 7,
      cursor,
    })
    found.push(...page.messages.map((message) => message.message_id))
    expect(page.messages.every(({ state }) => state === 'closed')).toBe(true)
    cursor = page.cursor
    more = page.has_more
  }
  expect(found).toEqual(all)
  expect(await archive(bob, { written_by: 'ANN', limit: 100 })).toEqual(all.filter((_, index) => index % 2 === 0))
  expect(await archive(cleo)).toEqual([])
})

test('by room and time; a room that was left, and session mail of a sibling, are not there', async () => {
  const direct = await world.letter(ann, 'bob')
  const posted = await world.letter(ann, '#build')
  const own = await world.letter(ann, addressOf(sibling))
  await close(bob, direct, posted)
  await close(sibling, posted, own)
  expect(await archive(bob)).toEqual([posted, direct])
  expect(await archive(sibling)).toEqual([own, posted, direct])
  expect(await archive(bob, { room: 'Build' })).toEqual([posted])
  expect((await world.refusal(bob, 'archive', { room: 'none' })).kind).toBe('unknown_room')
  const now = Date.now()
  expect(await archive(bob, { since_unix_ms: now + 1 })).toEqual([])
  expect(await archive(bob, { until_unix_ms: now + 1 })).toEqual([posted, direct])
  expect(await archive(bob, { until_unix_ms: now - 60_000 })).toEqual([])
  await world.store.leave(world.store.registry.room('build')!, bob.account)
  expect(await archive(bob)).toEqual([direct])
})
