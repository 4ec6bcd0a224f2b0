// Doorbells on a real store with real listeners: who is rung, when, how often, and that no listener hurts a send.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Doorbells, startDoorbells } from '../../../src/delivery/doorbells.ts'
import { signature } from '../../../src/delivery/ring.ts'
import type { AccountRow, SessionRow } from '../../../src/store/rows.ts'
import { sequenceOf } from '../../../src/wire/names.ts'
import { dig } from '../../support/json.ts'
import {
  carryIn,
  type Listener,
  type Office,
  openListener,
  openOffice,
  toAccount,
  toRoom,
  toSession,
} from './office.ts'

let office: Office
let bells: Doorbells
let listener: Listener
let a: AccountRow
let b: AccountRow
let a1: SessionRow
let b1: SessionRow

const options = { ownPort: () => 1, delays: [150, 300], patience: { connectMs: 200, totalMs: 300 } }
const listen = (account: AccountRow, coalesce = false, url = listener.url) =>
  office.store.setListener(account, { url, key: `key of ${account.name}`, coalesce })
const said = (index: number, ...path: string[]) => dig(JSON.parse(listener.heard[index]?.body ?? 'null'), ...path)
const sequence = (index: number) => sequenceOf(String(said(index, 'message_id')))
/** Long enough for a ring that is due to arrive, shorter than the first delay. */
const pause = () => Bun.sleep(50)
/** Milliseconds within which mail that rings at once has rung, shorter than the first delay. */
const SOON = 120

beforeEach(async () => {
  office = await openOffice()
  listener = await openListener()
  bells = startDoorbells(office.store, options)
  a = await office.account('a')
  b = await office.account('b')
  a1 = await office.session(a)
  b1 = await office.session(b)
})
afterEach(async () => {
  await bells.stop()
  await office.store.close()
  await listener.close()
})

test('a ring says account, address, message id and sender, signed with the key of the listener', async () => {
  await listen(b)
  const { id } = await office.send(a1, toSession(b, b1))
  const [ring] = await listener.rings(1)
  const body = JSON.parse(ring?.body ?? '')
  expect(Object.keys(body)).toEqual(['account', 'to', 'message_id', 'from'])
  expect(body).toMatchObject({
    account: 'b',
    to: { kind: 'session', participant: 'b', session: b1.name },
    message_id: expect.stringMatching(/^m4a_[0-9a-f]{24}$/),
    from: { kind: 'session', participant: 'a', session: a1.name },
  })
  expect(ring?.headers['x-m4a-signature']).toBe(signature('key of b', ring?.body ?? ''))
  await pause()
  expect(office.store.delivery(id, [b1.box])?.notified).toBeNumber()
  expect(bells.health(b.id)).toMatchObject({ pending: 0, lastOk: expect.any(Number), lastError: null })
})

test('one ring per message and account, in order', async () => {
  await listen(b)
  const ids: number[] = []
  for (let i = 0; i < 20; i++) ids.push((await office.send(a1, toAccount(b))).id)
  ids.push((await office.send(a1, [...toAccount(b), ...toSession(b, b1)])).id)
  await listener.rings(21)
  expect(ids.map((_, index) => sequence(index))).toEqual(ids)
})

test('it rings again after each delay until the mail is opened or closed', async () => {
  await listen(b)
  const { id } = await office.send(a1, toAccount(b))
  const heard = await listener.rings(4)
  const gaps = heard.slice(1).map((ring, i) => ring.at - (heard[i]?.at ?? 0))
  expect(gaps[0]).toBeWithin(100, 1_000)
  expect(gaps[1]).toBeWithin(250, 1_500)
  expect(gaps[2]).toBeWithin(250, 1_500)
  await office.store.open(b, b1, { ids: [id] })
  await Bun.sleep(350)
  expect(heard).toHaveLength(4)
})

test('a closed letter does not ring again', async () => {
  await listen(b)
  const { id } = await office.send(a1, toAccount(b))
  await listener.rings(1)
  await office.store.settle(b, b1, [id], 'acknowledged')
  await Bun.sleep(200)
  expect(listener.heard).toHaveLength(1)
})

test('a listener that was down is rung later; its fault is shown meanwhile', async () => {
  await listen(b)
  listener.status = 500
  await office.send(a1, toAccount(b))
  await listener.rings(1)
  await pause()
  expect(bells.health(b.id)).toEqual({
    pending: 1,
    lastOk: null,
    lastError: 'answered 500',
    lastErrorAt: expect.any(Number),
  })
  listener.status = 200
  await listener.rings(2)
  await pause()
  expect(bells.health(b.id)).toMatchObject({ pending: 0, lastOk: expect.any(Number), lastError: 'answered 500' })
  await listen(b)
  expect(bells.health(b.id).lastError).toBe('answered 500')
  await office.store.setListener(b, { url: listener.url, key: 'a new one', coalesce: false })
  expect(bells.health(b.id)).toEqual({ pending: 0, lastOk: null, lastError: null, lastErrorAt: null })
})

test('mail that wakes nobody rings nobody; acknowledgements neither', async () => {
  await listen(a)
  await listen(b)
  await office.send(a1, toAccount(b), { hop: 17 })
  await office.send(a1, toAccount(b), { suppressed: 'rate' })
  await pause()
  expect(listener.heard).toHaveLength(0)
  const { id } = await office.send(a1, toAccount(b), { hop: 16 })
  await listener.rings(1)
  await office.store.settle(b, b1, [id], 'acknowledged')
  await pause()
  expect(listener.heard).toHaveLength(1)
})

test('a room post rings the sender for its siblings alone, once', async () => {
  const room = await office.room('build', a, b)
  await listen(a)
  await office.send(a1, toRoom(room, a, b))
  await pause()
  expect(listener.heard).toHaveLength(0)
  await office.session(a)
  await office.send(a1, toRoom(room, a, b))
  await listener.rings(1)
  await pause()
  expect(listener.heard).toHaveLength(1)
  expect(said(0, 'to')).toEqual({ kind: 'room', room: 'build' })
})

test('with coalesce an account is rung once while it has unread mail, and goes on being reminded of it', async () => {
  await listen(b, true)
  const first = await office.send(a1, toAccount(b))
  const second = await office.send(a1, toAccount(b))
  await listener.rings(1)
  const third = await office.send(a1, toSession(b, b1))
  await pause()
  expect(listener.heard).toHaveLength(1)
  await office.store.open(b, b1, { ids: [first.id] })
  await listener.rings(2)
  expect(listener.heard[1]!.at - listener.heard[0]!.at).toBeGreaterThan(140)
  expect(said(1, 'message_id')).not.toBe(said(0, 'message_id') ?? null)
  await office.store.settle(b, b1, [second.id, third.id], 'acknowledged')
  await pause()
  await office.send(a1, toAccount(b))
  await listener.rings(3, SOON)
})

test('a repeated signal rings only where the earlier one was opened; the reminder goes on for the newest', async () => {
  await listen(b)
  const first = await office.send(a1, toAccount(b), { upsert: 'ci' })
  await listener.rings(1)
  const second = await office.send(a1, toAccount(b), { upsert: 'ci' })
  await pause()
  expect(listener.heard).toHaveLength(1)
  await listener.rings(2)
  expect(listener.heard[1]!.at - listener.heard[0]!.at).toBeWithin(140, 290)
  expect(sequence(1)).toBe(second.id)
  expect(second.id).toBeGreaterThan(first.id)
  await office.store.open(b, b1, { ids: [second.id] })
  await office.send(a1, toAccount(b), { upsert: 'ci' })
  await listener.rings(3, SOON)
})

test('a burst of signals before the first ring rings once, for the newest', async () => {
  await listen(b)
  const sends = await Promise.all(Array.from({ length: 5 }, () => office.send(a1, toAccount(b), { upsert: 'ci' })))
  await pause()
  expect(listener.heard).toHaveLength(1)
  expect(sequence(0)).toBe(Math.max(...sends.map((one) => one.id)))
})

test('mail for an ended session that is released rings for the account', async () => {
  await office.send(a1, toSession(b, b1))
  await listen(b)
  await office.store.endSession(b1)
  await office.store.release(b1)
  await listener.rings(1)
  expect(said(0, 'to', 'session')).toBe(b1.name)
})

test('without a listener, or with a removed one, nothing rings', async () => {
  await office.send(a1, toAccount(b))
  await listen(b)
  await office.send(a1, toAccount(b))
  await listener.rings(1)
  await office.store.setListener(b, null)
  await Bun.sleep(200)
  expect(listener.heard).toHaveLength(1)
})

test('after a restart what was not rung is rung, and what was is a reminder', async () => {
  const root = mkdtempSync(join(tmpdir(), 'm4a-bells-'))
  const path = join(root, 'mail.sqlite')
  let there = await openOffice(path)
  const to = await there.account('to')
  const from = await there.session(await there.account('from'))
  await there.store.setListener(to, { url: listener.url, key: 'k', coalesce: false })
  const told = await there.send(from, toAccount(to))
  there.store.notified(to.box, [told.id])
  const untold = await there.send(from, toAccount(to))
  const opened = await there.send(from, toAccount(to))
  await there.store.open(to, await there.session(to), { ids: [opened.id] })
  await there.store.close()
  there = await openOffice(path)
  const again = startDoorbells(there.store, options)
  await listener.rings(2)
  expect([sequence(0), sequence(1)]).toEqual([untold.id, told.id])
  await again.stop()
  await there.store.close()
  rmSync(root, { recursive: true, force: true })
})

test('a listener that hangs delays no send and no other listener, and more mail than it is told of is not lost', async () => {
  let accepted = 0
  const hanging = createServer((socket) => {
    accepted++
    socket.on('error', () => {})
  })
  await new Promise<void>((done) => hanging.listen(0, '127.0.0.1', done))
  const address = hanging.address()
  const port = typeof address === 'object' && address ? address.port : 0
  await listen(a, false, `http://127.0.0.1:${port}/`)
  await listen(b)
  const start = performance.now()
  await Promise.all(Array.from({ length: 1_200 }, () => office.send(b1, toAccount(a))))
  expect(performance.now() - start).toBeLessThan(2_000)
  await office.send(a1, toAccount(b))
  await listener.rings(1, SOON)
  expect(accepted).toBeLessThanOrEqual(10)
  expect(bells.health(a.id).pending).toBe(1_000)
  await listen(a)
  const told = new Set<number>()
  for (const end = performance.now() + 10_000; told.size < 1_201 && performance.now() < end; await Bun.sleep(20))
    for (const ring of listener.heard.splice(0)) told.add(sequenceOf(String(dig(JSON.parse(ring.body), 'message_id'))))
  expect(told.size).toBe(1_201)
  hanging.close()
})

test('stopping ends a ring in flight at once', async () => {
  const hanging = createServer(() => {})
  await new Promise<void>((done) => hanging.listen(0, '127.0.0.1', done))
  const address = hanging.address()
  await listen(b, false, `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/`)
  await office.send(a1, toAccount(b))
  await pause()
  const start = performance.now()
  await bells.stop()
  expect(performance.now() - start).toBeLessThan(100)
  hanging.close()
})

test('a letter that was carried in does not ring, neither at once nor after a start', async () => {
  await listen(b)
  await carryIn(office.store, a, b)
  await pause()
  await bells.stop()
  bells = startDoorbells(office.store, options)
  const { id } = await office.send(a1, toAccount(b))
  await listener.rings(1)
  await pause()
  expect(listener.heard).toHaveLength(1)
  expect(sequence(0)).toBe(id)
})
