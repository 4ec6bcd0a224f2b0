// What an account sent, newest first: the index follows behind the sends, and nobody can tell where it has got to.
import { afterEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '../../../src/store/open.ts'
import type { Store } from '../../../src/store/store.ts'
import { addAccount, addSession, post, toAccount } from '../../support/population.ts'
import { carryIn } from '../delivery/office.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const NEWEST = Number.MAX_SAFE_INTEGER
const ids = (store: Store, account: number, before = NEWEST) =>
  [...store.sent(account, [0], before)].map((message) => message.id)

test('is the same list before, while and after its messages are indexed, and from every position', async () => {
  const store = await openStore(':memory:')
  const accounts = [await addAccount(store, 'alice'), await addAccount(store, 'bob')]
  const sessions = [await addSession(store, accounts[0] as never), await addSession(store, accounts[1] as never)]
  const sent: number[][] = [[], []]
  for (let round = 0; round < 700; round++) {
    const who = (round * 7 + (round >> 3)) % 2
    const [from, session, to] = [accounts[who], sessions[who], accounts[1 - who]]
    if (!from || !session || !to) throw new Error('two accounts')
    const { id } = await post(store, from, session, [toAccount(to)])
    sent[who]?.unshift(id)
    if (round % 50 === 0) for (const n of [0, 1]) expect(ids(store, accounts[n]?.id ?? 0)).toEqual(sent[n] ?? [])
  }
  for (const n of [0, 1]) {
    const [account, all] = [accounts[n]?.id ?? 0, sent[n] ?? []]
    expect(ids(store, account)).toEqual(all)
    for (const at of [0, 1, 100, 250, all.length - 1]) expect(ids(store, account, all[at])).toEqual(all.slice(at + 1))
  }
  await store.close()
})

test('goes on where it was after a restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'm4a-sent-'))
  folders.push(folder)
  const path = join(folder, 'mail.sqlite')
  const sent: number[] = []
  for (let start = 0; start < 3; start++) {
    const store = await openStore(path)
    const alice = store.registry.account('alice') ?? (await addAccount(store, 'alice'))
    const session = await addSession(store, alice)
    const posts = Array.from({ length: 150 }, () => post(store, alice, session, [toAccount(alice)]))
    for (const { id } of await Promise.all(posts)) sent.unshift(id)
    expect(ids(store, alice.id)).toEqual(sent)
    await store.close()
  }
})

test('holds what was carried in between sends, and nothing of what retention has removed', async () => {
  const store = await openStore(':memory:')
  const alice = await addAccount(store, 'alice')
  const bob = await addAccount(store, 'bob')
  const [writer, reader] = [await addSession(store, alice), await addSession(store, bob)]
  const sent: number[] = []
  for (let round = 0; round < 40; round++) {
    const writes = Array.from({ length: 16 }, (_, at) =>
      at % 3 === 0 ? carryIn(store, alice, bob) : post(store, alice, writer, [toAccount(bob)]).then(({ id }) => id),
    )
    for (const id of await Promise.all(writes)) sent.unshift(id)
    expect(ids(store, alice.id)).toEqual(sent)
    if (round % 13 !== 12) continue
    const closed = sent.filter((_, at) => at % 2 === 0)
    await store.settle(bob, reader, closed, 'acknowledged')
    await store.keeping.retain(Date.now() + 400 * 86_400_000)
    for (const id of closed) sent.splice(sent.indexOf(id), 1)
    expect(ids(store, alice.id)).toEqual(sent)
  }
  for (const at of [0, 100, sent.length - 1]) expect(ids(store, alice.id, sent[at])).toEqual(sent.slice(at + 1))
  await store.close()
})
