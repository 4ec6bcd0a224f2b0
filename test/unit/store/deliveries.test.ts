// Who sees a delivery and whom a close settles: accounts, sessions, rooms, successors; and the counters that go with it.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { openStore } from '../../../src/store/open.ts'
import type { AccountRow, SessionRow } from '../../../src/store/rows.ts'
import type { Store } from '../../../src/store/store.ts'
import { addAccount, addSession, post, shown, toAccount, toRoom, toSession } from '../../support/population.ts'

async function world() {
  const store = await openStore(':memory:')
  const [a, b] = [await addAccount(store, 'alice'), await addAccount(store, 'bob')]
  const [a1, b1, b2] = [await addSession(store, a), await addSession(store, b), await addSession(store, b)]
  return { store, a, b, a1, b1, b2 }
}

test("mail to an account is every session's until one closes it", async () => {
  const { store, a, b, a1, b1, b2 } = await world()
  const { id } = await post(store, a, a1, [toAccount(b)])
  expect(shown(store, b, b1)).toEqual([id])
  expect(shown(store, b, b2)).toEqual([id])
  const [done] = await store.settle(b, b1, [id], 'acknowledged')
  expect(done).toMatchObject({ ok: true, first: true })
  expect(shown(store, b, b2)).toEqual([])
  expect(store.unread(b.box, b2.box)).toBe(0)
  expect(shown(store, b, b2, 'closed')).toEqual([id])
  expect(await store.settle(b, b2, [id], 'acknowledged')).toEqual([{ ...done, first: false } as never])
  await store.reopen(b, b2, [id])
  expect(shown(store, b, b1)).toEqual([id])
})

test("mail to a session is never a sibling's, and a successor inherits it", async () => {
  const { store, a, b, a1, b1, b2 } = await world()
  const { id } = await post(store, a, a1, [toSession(b, b1)])
  expect(shown(store, b, b2)).toEqual([])
  expect(store.delivery(id, [b2.box, b.box])).toBeNull()
  expect(await store.settle(b, b2, [id], 'acknowledged')).toEqual([{ id, ok: false, why: 'unknown' }])
  await store.endSession(b1)
  expect(store.orphanedSessions(b.id).map((session) => session.id)).toEqual([b1.id])
  const heir = await addSession(store, b, { predecessor: b1 })
  const late = await addSession(store, b, { predecessor: b1 })
  expect(shown(store, b, heir)).toEqual([id])
  expect(shown(store, b, late)).toEqual([])
  expect(store.orphanedSessions(null)).toEqual([])
})

test('an operator releases the letters of an ended session to its account', async () => {
  const { store, a, b, a1, b1, b2 } = await world()
  const { id } = await post(store, a, a1, [toSession(b, b1)], { subject: 'needle' })
  await store.endSession(b1)
  expect(await store.search('needle', { boxes: [b.box, b2.box], account: b.id }, Number.MAX_SAFE_INTEGER, 9)).toEqual(
    [],
  )
  expect(await store.release(b1)).toBe(1)
  expect(shown(store, b, b2)).toEqual([id])
  expect(store.unread(b.box, b2.box)).toBe(1)
  expect(await store.search('needle', { boxes: [b.box, b2.box], account: b.id }, Number.MAX_SAFE_INTEGER, 9)).toEqual([
    id,
  ])
})

test('a letter to two sessions that both end is released once, and not again once the account has closed it', async () => {
  const { store, a, b, a1, b1, b2 } = await world()
  const b3 = await addSession(store, b)
  const twice = await post(store, a, a1, [toSession(b, b1), toSession(b, b2)])
  await store.endSession(b1)
  expect(await store.release(b1)).toBe(1)
  expect(shown(store, b, b2)).toEqual([twice.id])
  const later = await post(store, a, a1, [toSession(b, b2)])
  await store.endSession(b2)
  expect(await store.release(b2)).toBe(1)
  expect(shown(store, b, b3)).toEqual([twice.id, later.id])
  expect([store.openCount(b2.box), store.unread(b.box, b3.box)]).toEqual([0, 2])
  const third = await post(store, a, a1, [toSession(b, b1), toSession(b, b2)])
  await store.release(b1)
  await store.settle(b, b3, [third.id], 'acknowledged')
  expect(await store.release(b2)).toBe(0)
  expect(shown(store, b, b3)).toEqual([twice.id, later.id])
  expect(await store.settle(b, b3, [twice.id, later.id], 'acknowledged')).toMatchObject([{ ok: true }, { ok: true }])
  expect(store.unread(b.box, b3.box)).toBe(0)
})

test('a room letter: siblings of that time keep it, later sessions see it until the first close, the sender never', async () => {
  const { store, a, b, a1, b1, b2 } = await world()
  const room = await store.addRoom('build', null)
  await store.join(room, a)
  await store.join(room, b)
  const a2 = await addSession(store, a)
  const { id } = await post(store, a, a1, toRoom(store, room))
  expect(shown(store, a, a1, 'all')).toEqual([])
  expect(store.unread(a.box, a1.box)).toBe(0)
  expect(shown(store, a, a2)).toEqual([id])
  const b3 = await addSession(store, b)
  expect(shown(store, b, b3)).toEqual([id])
  await store.settle(b, b1, [id], 'acknowledged')
  const b4 = await addSession(store, b)
  expect([b1, b2, b3, b4].map((session) => shown(store, b, session))).toEqual([[], [id], [id], []])
  expect(shown(store, b, b2, 'all')).toEqual([id])
  await store.settle(b, b2, [id], 'acknowledged')
  expect([b1, b2, b3].map((session) => shown(store, b, session))).toEqual([[], [], [id]])
  expect(await store.settle(a, a1, [id], 'acknowledged')).toEqual([{ id, ok: false, why: 'unknown' }])
  await store.leave(room, b)
  expect(shown(store, b, b3)).toEqual([])
  expect(shown(store, b, b1, 'all')).toEqual([])
  expect(store.unread(b.box, b3.box)).toBe(0)
  await store.join(room, b)
  expect(shown(store, b, b3)).toEqual([id])
})

test('a claim keeps a sibling from closing until it is given back or its session ends', async () => {
  const { store, a, b, a1, b1, b2 } = await world()
  const { id } = await post(store, a, a1, [toAccount(b)])
  const until = Date.now() + 60_000
  expect(await store.claim(b, b1, [id], until)).toMatchObject([{ ok: true }])
  expect(await store.claim(b, b2, [id], until)).toMatchObject([{ ok: false, why: 'claimed' }])
  expect(await store.settle(b, b2, [id], 'acknowledged')).toMatchObject([
    { ok: false, why: 'claimed', claim: { session: b1.id } },
  ])
  expect(store.registry.claimsByOthers(b.box, b2.id, Date.now())).toBe(1)
  await store.endSession(b1)
  expect(store.registry.claim(b.box, id, Date.now())).toBeUndefined()
  expect(await store.settle(b, b2, [id], 'acknowledged')).toMatchObject([{ ok: true }])
})

test('an upsert closes the earlier signal and says where not to ring again', async () => {
  const { store, a, b, a1, b1 } = await world()
  const first = await post(store, a, a1, [toAccount(b)], { upsert: 'ci' })
  const second = await post(store, a, a1, [toAccount(b)], { upsert: 'ci' })
  expect(second).toMatchObject({ superseded: 1, quiet: [b.box] })
  expect(shown(store, b, b1)).toEqual([second.id])
  expect(store.delivery(first.id, [b.box])).toMatchObject({ closed: 1, reason: 'superseded' })
  await store.open(b, b1, { ids: [second.id] })
  expect(await post(store, a, a1, [toAccount(b)], { upsert: 'ci' })).toMatchObject({ superseded: 1, quiet: [] })
  expect(store.unread(b.box, b1.box)).toBe(1)
})

test('a reply that does not close opens the original in the same commit', async () => {
  const { store, a, b, a1, b1 } = await world()
  const { id } = await post(store, a, a1, [toAccount(b)])
  const seen: string[] = []
  store.onCommit((commits) => seen.push(commits.map((one) => (one.kind === 'sent' ? 'sent' : one.event.kind)).join()))
  await post(store, b, b1, [toSession(a, a1)], { parent: id, thread: id, open: id })
  expect(seen).toEqual(['sent,opened'])
  expect(store.delivery(id, [b.box])).toMatchObject({ closed: 0, openedBy: b1.id })
})

test('an upsert ends the claim on what it supersedes: once reopened it is anybody’s', async () => {
  const { store, a, b, a1, b1, b2 } = await world()
  const { id } = await post(store, a, a1, [toAccount(b)], { upsert: 'ci' })
  await store.claim(b, b1, [id], Date.now() + 600_000)
  await post(store, a, a1, [toAccount(b)], { upsert: 'ci' })
  expect(store.registry.claim(b.box, id, Date.now())).toBeUndefined()
  expect(await store.reopen(b, b2, [id])).toMatchObject([{ ok: true }])
  expect(await store.settle(b, b2, [id], 'acknowledged')).toMatchObject([{ ok: true, first: true }])
})

test('a reply that closes settles the original in the same commit', async () => {
  const { store, a, b, a1, b1 } = await world()
  const { id } = await post(store, a, a1, [toAccount(b)])
  const seen: string[] = []
  store.onCommit((commits) => seen.push(commits.map((one) => (one.kind === 'sent' ? 'sent' : one.event.kind)).join()))
  const reply = await post(store, b, b1, [toSession(a, a1)], { parent: id, thread: id, close: id })
  expect(reply.closed).toBe(true)
  expect(seen).toEqual(['sent,closed'])
  expect(store.delivery(id, [b.box])).toMatchObject({ reason: 'replied', closedBy: b1.id })
  expect([...store.thread(id, 0)].map((row) => row.id)).toEqual([id, reply.id])
})

/** What the counters say must be what the copies are, whatever happened. */
test('a room letter that was closed before its reader left the room is not reopened', async () => {
  const { store, a, b, a1, b1, b2 } = await world()
  const room = await store.addRoom('r', null)
  for (const account of [a, b]) await store.join(room, account)
  const { id } = await post(store, a, a1, toRoom(store, room))
  await store.settle(b, b1, [id], 'acknowledged')
  await store.leave(room, b)
  expect(await store.reopen(b, b1, [id])).toEqual([{ id, ok: false, why: 'unknown' }])
  expect(store.unread(b.box, b1.box)).toBe(0)
  await store.join(room, b)
  expect(await store.reopen(b, b1, [id])).toMatchObject([{ ok: true }])
  expect(shown(store, b, b1)).toEqual([id])
  expect(shown(store, b, b2)).toEqual([id])
})

test('counters equal the copies after any history', async () => {
  const step = fc.record({
    op: fc.constantFrom('account', 'session', 'room', 'ack', 'reopen', 'leave', 'join', 'upsert', 'end'),
    who: fc.nat(3),
    pick: fc.nat(30),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { store, a, b, a1, b1, b2 } = await world()
      const room = await store.addRoom('r', null)
      await store.join(room, a)
      await store.join(room, b)
      const people: [AccountRow, SessionRow][] = [
        [a, a1],
        [b, b1],
        [b, b2],
        [a, await addSession(store, a)],
      ]
      const ids: number[] = []
      for (const { op, who, pick } of steps) {
        const [account, session] = people[who]!
        const [other, otherSession] = people[(who + 1 + (pick % 3)) % 4]!
        const id = ids[pick % Math.max(1, ids.length)] ?? 0
        if (op === 'account') ids.push((await post(store, account, session, [toAccount(other)])).id)
        if (op === 'session') ids.push((await post(store, account, session, [toSession(other, otherSession)])).id)
        if (op === 'room' && store.registry.isMember(room.id, account.id))
          ids.push((await post(store, account, session, toRoom(store, room))).id)
        if (op === 'upsert')
          ids.push(
            (await post(store, account, session, pick % 2 ? toRoom(store, room) : [toAccount(other)], { upsert: 'k' }))
              .id,
          )
        if (op === 'ack') await store.settle(account, session, [id], 'acknowledged')
        if (op === 'reopen') await store.reopen(account, session, [id])
        if (op === 'leave') await store.leave(room, account)
        if (op === 'join') await store.join(room, account)
        if (op === 'end' && pick === 7) await store.endSession(session)
      }
      for (const [account, session] of people)
        expect(store.unread(account.box, session.box)).toBe(shown(store, account, session).length)
      await store.close()
    }),
    { numRuns: 60 },
  )
})

const closing = (store: Store) => store.close()
test('a closed store takes nothing', async () => {
  const { store, a, b, a1 } = await world()
  await closing(store)
  await expect(post(store, a, a1, [toAccount(b)])).rejects.toMatchObject({ kind: 'shutting_down' })
})
