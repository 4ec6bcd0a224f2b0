// Retention: what goes and what stays, counters and search after it, ids and cursors, keys; whatever happened before.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import fc from 'fast-check'
import { openStore } from '../../../../src/store/open.ts'
import type { AccountRow, SessionRow } from '../../../../src/store/rows.ts'
import type { Store } from '../../../../src/store/store.ts'
import { addAccount, addSession, post, shown, toAccount, toRoom, toSession } from '../../../support/population.ts'
import { tempFolder } from '../../../support/temp.ts'

const DAY = 86_400_000
/** As if `days` had passed. */
const later = (days: number) => Date.now() + days * DAY

async function world(path = ':memory:') {
  const store = await openStore(path)
  const [a, b] = [await addAccount(store, 'alice'), await addAccount(store, 'bob')]
  const [a1, b1, b2] = [await addSession(store, a), await addSession(store, b), await addSession(store, b)]
  return { store, a, b, a1, b1, b2 }
}
const there = (store: Store, ids: readonly number[]) => ids.filter((id) => store.message(id) !== null)

test('closed mail goes after its days, mail that is not closed never', async () => {
  const { store, a, b, a1, b1 } = await world()
  const closed = await post(store, a, a1, [toAccount(b)])
  const opened = await post(store, a, a1, [toAccount(b)])
  const fresh = await post(store, a, a1, [toAccount(b)])
  await store.settle(b, b1, [closed.id], 'acknowledged')
  await store.open(b, b1, { ids: [opened.id] })
  const ids = [closed.id, opened.id, fresh.id]
  expect((await store.keeping.retain(later(89))).messages).toBe(0)
  const plan = await store.keeping.plan(later(91))
  expect(plan).toMatchObject({ messages: 1, conversations: 1 })
  expect(plan.accounts.get(b.id)).toEqual({ going: 1, notClosed: 2, tooYoung: 0 })
  expect(there(store, ids)).toEqual(ids)
  expect(await store.keeping.retain(later(91))).toMatchObject({ messages: 1, bytes: plan.bytes })
  expect(there(store, ids)).toEqual([opened.id, fresh.id])
  expect((await store.keeping.retain(later(100_000))).messages).toBe(0)
  expect(shown(store, b, b1, 'all')).toEqual([opened.id, fresh.id])
  store.keeping.policy = { closedDays: null, eventsDays: null }
  await store.settle(b, b1, ids, 'acknowledged')
  expect(await store.keeping.retain(later(100_000))).toMatchObject({ messages: 0, events: 0 })
})

test('a conversation goes as a whole, also one of more letters than one write removes', async () => {
  const { store, a, b, a1, b1 } = await world()
  const root = (await post(store, a, a1, [toAccount(b)])).id
  const ids = [root]
  for (let index = 0; index < 200; index++)
    ids.push((await post(store, a, a1, [toAccount(b)], { thread: root, parent: ids.at(-1)! })).id)
  await store.settle(b, b1, ids.slice(0, -1), 'acknowledged')
  expect((await store.keeping.retain(later(91))).messages).toBe(0)
  await store.settle(b, b1, ids, 'acknowledged')
  expect(await store.keeping.retain(later(91))).toMatchObject({ messages: 201, conversations: 1 })
  expect(there(store, ids)).toEqual([])
})

test('a pass that is stopped in a long conversation leaves its beginning, so that every answer has what it answers', async () => {
  const { store, a, b, a1, b1 } = await world()
  const root = (await post(store, a, a1, [toAccount(b)])).id
  const ids = [root]
  for (let index = 0; index < 99; index++)
    ids.push((await post(store, a, a1, [toAccount(b)], { thread: root, parent: ids.at(-1)! })).id)
  await store.settle(b, b1, ids, 'acknowledged')
  const stop = new AbortController()
  store.onCommit(() => stop.abort())
  const waiting = store.keeping.retain(later(91), stop.signal)
  await Bun.sleep(8)
  stop.abort()
  await waiting
  const left = there(store, ids)
  expect(left).toEqual(ids.slice(0, left.length))
  await store.keeping.retain(later(91))
  expect(there(store, ids)).toEqual([])
})

test('a room letter goes once each member closed it and every session of that time has closed it or ended', async () => {
  const { store, a, b, a1, b1, b2 } = await world()
  const room = await store.addRoom('build', null)
  for (const member of [a, b]) await store.join(room, member)
  const a2 = await addSession(store, a)
  const { id } = await post(store, a, a1, toRoom(store, room))
  await store.settle(b, b1, [id], 'acknowledged')
  expect((await store.keeping.retain(later(91))).messages).toBe(0) // b2 has not
  await store.endSession(b2)
  expect((await store.keeping.retain(later(91))).messages).toBe(0) // nor has a2, the sender's sibling
  await store.endSession(a2)
  await addSession(store, a)
  expect((await store.keeping.retain(later(91))).messages).toBe(1)
  expect(store.openCount(b2.box)).toBe(0)
  expect(store.unread(a.box, a1.box)).toBe(0)
  const after = await addSession(store, a)
  expect(store.unread(a.box, after.box)).toBe(0)
})

test('mail of an ended session, and of a room that was left, is not acknowledged and stays', async () => {
  const { store, a, b, a1, b1, b2 } = await world()
  const room = await store.addRoom('build', null)
  for (const member of [a, b]) await store.join(room, member)
  const lost = (await post(store, a, a1, [toSession(b, b1)])).id
  const hidden = (await post(store, a, a1, toRoom(store, room))).id
  await store.leave(room, b)
  await store.endSession(b1)
  expect((await store.keeping.retain(later(1_000))).messages).toBe(0)
  await store.release(b1)
  await store.settle(b, b2, [lost], 'acknowledged')
  await store.join(room, b)
  await store.settle(b, b2, [hidden], 'acknowledged')
  expect((await store.keeping.retain(later(1_000))).messages).toBe(2)
})

test('what is removed is not found any more, and a key whose message is gone is free', async () => {
  using folder = tempFolder()
  const { store, a, b, a1, b1 } = await world(join(folder.path, 'mail.sqlite'))
  const key = { idempotency: { key: 'k', hash: 'one' } }
  const { id } = await post(store, a, a1, [toAccount(b)], { subject: 'needle', ...key })
  const kept = await post(store, a, a1, [toAccount(b)], { subject: 'needle', upsert: 'u' })
  const find = () => store.search('needle', 'all', Number.MAX_SAFE_INTEGER, 9)
  expect(await find()).toEqual([kept.id, id])
  await store.settle(b, b1, [id], 'acknowledged')
  expect((await store.keeping.retain(later(91))).messages).toBe(1)
  expect(await find()).toEqual([kept.id])
  expect(store.keyed(a.id, 'k')).toBeNull()
  const again = await post(store, a, a1, [toAccount(b)], { idempotency: { key: 'k', hash: 'two' } })
  expect(again).toMatchObject({ duplicate: false, conflict: false })
  expect(store.keyed(a.id, 'k')).toEqual({ id: again.id, hash: 'two' })
  await store.close()
})

test('no number is given twice when the newest letters and all events are gone', async () => {
  using folder = tempFolder()
  const path = join(folder.path, 'mail.sqlite')
  const { store, a, b, a1, b1 } = await world(path)
  const { id } = await post(store, a, a1, [toAccount(b)])
  await store.settle(b, b1, [id], 'acknowledged')
  const { head } = store
  expect(await store.keeping.retain(later(91))).toMatchObject({ messages: 1, events: 1 })
  expect(store.keeping.floor).toBe(head)
  expect(store.events(0, 9)).toEqual([])
  await store.close()
  const again = await openStore(path)
  expect(again.head).toBe(head)
  const next = await post(again, again.registry.account('alice')!, again.registry.liveSessions()[0]!, [])
  expect(next.id).toBeGreaterThan(head)
  await again.close()
})

test('events that a subscriber has not passed stay', async () => {
  const { store, a, b, a1, b1 } = await world()
  const ids: number[] = []
  for (let index = 0; index < 3; index++) ids.push((await post(store, a, a1, [toAccount(b)])).id)
  await store.settle(b, b1, ids, 'acknowledged')
  const [first] = store.events(0, 99).filter(({ kind }) => kind === 'closed')
  store.setCursor('slow', first!.id)
  await store.reopen(b, b1, ids) // and is committed behind the cursor
  expect((await store.keeping.retain(later(31))).events).toBe(1)
})

/** Whatever happened: nothing unacknowledged goes, no letter is left without what it answers, the counters are the copies. */
test('after any history', async () => {
  const step = fc.record({
    op: fc.constantFrom(
      'account',
      'session',
      'room',
      'reply',
      'ack',
      'ackAll',
      'reopen',
      'leave',
      'join',
      'upsert',
      'end',
      'retain',
    ),
    who: fc.nat(3),
    pick: fc.nat(30),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { store, a, b, a1, b1, b2 } = await world()
      const room = await store.addRoom('r', null)
      for (const member of [a, b]) await store.join(room, member)
      const people: [AccountRow, SessionRow][] = [
        [a, a1],
        [b, b1],
        [b, b2],
        [a, await addSession(store, a)],
      ]
      const ids: number[] = []
      const send = async (...args: Parameters<typeof post>) => void ids.push((await post(...args)).id)
      for (const { op, who, pick } of [...steps, { op: 'retain' as const, who: 0, pick: 0 }]) {
        const [account, session] = people[who]!
        const [other, otherSession] = people[(who + 1 + (pick % 3)) % 4]!
        const id = ids[pick % Math.max(1, ids.length)] ?? 0
        const mayPost = store.registry.isMember(room.id, account.id)
        if (op === 'account') await send(store, account, session, [toAccount(other)])
        if (op === 'session') await send(store, account, session, [toSession(other, otherSession)])
        if (op === 'room' && mayPost) await send(store, account, session, toRoom(store, room))
        if (op === 'upsert')
          await send(store, account, session, pick % 2 && mayPost ? toRoom(store, room) : [toAccount(other)], {
            upsert: 'k',
          })
        const parent = store.message(id)
        if (op === 'reply' && parent) {
          const thread = { parent: id, thread: parent.thread, close: id }
          await send(store, account, session, [toAccount(other)], thread)
        }
        if (op === 'ack') await store.settle(account, session, [id], 'acknowledged')
        if (op === 'ackAll') await store.settle(account, session, ids, 'acknowledged')
        if (op === 'reopen') await store.reopen(account, session, [id])
        if (op === 'leave') await store.leave(room, account)
        if (op === 'join') await store.join(room, account)
        if (op === 'end' && pick % 5 === 0) await store.endSession(session)
        if (op !== 'retain') continue
        const living = people.filter(([, { ended }]) => ended === null)
        const unread = living.map(([mine, one]) => shown(store, mine, one))
        const plan = await store.keeping.plan(later(91))
        const gone = await store.keeping.retain(later(91))
        expect(gone.messages).toBe(plan.messages)
        // what its own account wrote into a room may go unread: its sibling sessions of that time had it and have ended
        for (const [index, [mine, one]] of living.entries())
          expect(shown(store, mine, one)).toEqual(unread[index]!.filter((seen) => store.message(seen) !== null))
        for (const message of there(store, ids).map((one) => store.message(one)!))
          if (message.parent !== null) expect(store.message(message.parent)).not.toBeNull()
        for (const [mine, one] of people) expect(store.unread(mine.box, one.box)).toBe(shown(store, mine, one).length)
      }
      await store.close()
    }),
    { numRuns: 60 },
  )
})
