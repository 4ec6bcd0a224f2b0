// Readers of events on a real store: only those whom a commit concerns are woken, the rest move on; and there is a limit.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { type Feed, Feeds } from '../../../src/delivery/feeds.ts'
import type { AccountRow, SessionRow } from '../../../src/store/rows.ts'
import { LIMITS } from '../../../src/wire/limits.ts'
import { type Office, openOffice, toAccount, toRoom } from './office.ts'

let office: Office
let feeds: Feeds
let a: AccountRow
let b: AccountRow
let c: AccountRow
let a1: SessionRow
beforeEach(async () => {
  office = await openOffice()
  feeds = new Feeds(office.store)
  a = await office.account('a')
  b = await office.account('b')
  c = await office.account('c')
  a1 = await office.session(a)
})
afterEach(() => office.store.close())

class Listener implements Feed {
  woken = 0
  skipped = 0
  readonly account: number
  constructor({ id }: AccountRow) {
    this.account = id
  }
  wake(): void {
    this.woken++
  }
  skip(sequence: number): void {
    this.skipped = sequence
  }
}

function listen(account: AccountRow): Listener {
  const listener = new Listener(account)
  feeds.add(listener)
  return listener
}

test('a letter wakes the readers of its sender and of its recipients, nobody else', async () => {
  const [sender, reader, other] = [listen(a), listen(b), listen(c)]
  await office.send(a1, toAccount(b))
  expect([sender.woken, reader.woken, other.woken]).toEqual([1, 1, 0])
  expect(other.skipped).toBe(office.store.head)
})

test('what becomes of it wakes both again', async () => {
  const [sender, reader, other] = [listen(a), listen(b), listen(c)]
  const b1 = await office.session(b)
  const { id } = await office.send(a1, toAccount(b))
  await office.store.settle(b, b1, [id], 'acknowledged')
  expect([sender.woken, reader.woken, other.woken]).toEqual([2, 2, 0])
})

test('a room post wakes the members, and an operator is woken by all', async () => {
  const operator = await office.store.changeAccount(c, { can: { operator: true } })
  const d = await office.account('d')
  const room = await office.room('build', a, b)
  const [member, watcher, stranger] = [listen(b), listen(operator), listen(d)]
  await office.send(a1, toRoom(room, a, b))
  expect([member.woken, watcher.woken, stranger.woken]).toEqual([1, 1, 0])
})

test('whose token is another now, or who is removed, looks again at once, and nobody else does', async () => {
  const [reader, other] = [listen(c), listen(b)]
  await office.store.changeAccount(c, { digest: 'f'.repeat(64) })
  expect([reader.woken, other.woken]).toEqual([1, 0])
  await office.store.removeAccount(c)
  expect([reader.woken, other.woken]).toEqual([2, 0])
})

test('readers at one place share one read, and a commit ends what was read', async () => {
  listen(a)
  await office.send(a1, toAccount(b))
  const first = feeds.events(0)
  expect(feeds.events(0)).toBe(first)
  const [event] = first
  if (!event) throw new Error('nothing was read')
  let made = 0
  const make = () => `${++made}`
  expect([feeds.text(event, make), feeds.text(event, make)]).toEqual(['1', '1'])
  await office.send(a1, toAccount(b))
  expect(feeds.events(0).length).toBe(first.length + 1)
  expect(feeds.text(event, make)).toBe('2')
})

test('an account has so many readers, all together have so many; who leaves makes room', () => {
  const leave = Array.from({ length: LIMITS.eventsAccount }, () => feeds.add(new Listener(a)))
  expect(() => feeds.add(new Listener(a))).toThrow(`this account has ${LIMITS.eventsAccount} readers of events`)
  leave[0]?.()
  leave[0]?.()
  const again = feeds.add(new Listener(a))
  expect(feeds.size).toBe(LIMITS.eventsAccount)
  expect(() => feeds.add(new Listener(a))).toThrow('readers of events')
  for (let account = 100; feeds.size < LIMITS.eventsAll; account++) feeds.add(new Listener({ ...a, id: account }))
  expect(() => feeds.add(new Listener(b))).toThrow(`the mailbox has ${LIMITS.eventsAll} readers of events`)
  again()
  expect(feeds.size).toBe(LIMITS.eventsAll - 1)
})
