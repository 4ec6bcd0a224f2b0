// What the store keeps of people is there after opening again; the projection of traffic is made anew from the mail.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { openStore } from '../../../src/store/open.ts'
import type { Store } from '../../../src/store/store.ts'
import { addAccount, addSession, post, toAccount } from '../../support/population.ts'
import { tempFolder } from '../../support/temp.ts'

const reopened = async (store: Store, path: string): Promise<Store> => {
  await store.close()
  return openStore(path)
}

test('aliases, who may see whom, faults, the mailbox itself and when an account was seen', async () => {
  using folder = tempFolder()
  const path = join(folder.path, 'mail.sqlite')
  let store = await openStore(path)
  const [a, b, c] = [await addAccount(store, 'a'), await addAccount(store, 'b'), await addAccount(store, 'c')]
  const session = await addSession(store, a)
  await post(store, a, session, [toAccount(b)])
  await store.people.setAlias(a, 'Lead', 'b')
  await store.people.setPrivacy(a, { private: true, listed: [c.id] })
  store.people.meet(a.id, [a.id])
  await store.people.raise({ name: 'x', since: 7, text: 'y' })
  const system = await store.people.system()
  session.lastSeen = 4_102_444_800_000
  store.touchSession(session)
  await store.endSession(session)

  store = await reopened(store, path)
  const { people } = store
  expect(people.aliases(a.id)).toEqual([{ name: 'Lead', address: 'b' }])
  expect(people.alias(a.id, 'lEAD')).toBe('b')
  expect([people.isPrivate(a.id), people.isPrivate(b.id)]).toEqual([true, false])
  // b was written to before it became private
  expect([a, b, c].map(({ id }) => people.isKnownTo(a.id, id))).toEqual([true, true, true])
  expect(people.listed(a.id)).toEqual([c.id])
  expect(people.faults()).toEqual([{ name: 'x', since: 7, text: 'y' }])
  expect(people.lastSeen(a.id)).toBe(4_102_444_800_000)
  expect((await people.system()).account.id).toBe(system.account.id)
  expect(store.registry.accounts().map(({ name }) => name)).toEqual(['a', 'b', 'c'])

  await people.setPrivacy(a, { private: false, listed: [] })
  await people.setAlias(a, 'lead', null)
  await people.clear('x')
  store = await reopened(store, path)
  expect([store.people.isPrivate(a.id), store.people.isKnownTo(a.id, c.id)]).toEqual([false, false])
  expect([store.people.aliases(a.id), store.people.faults()]).toEqual([[], []])
  await store.close()
})

test('traffic is counted once for each letter and account, and anew where the index is of another form', async () => {
  using folder = tempFolder()
  const path = join(folder.path, 'mail.sqlite')
  let store = await openStore(path)
  const [a, b] = [await addAccount(store, 'a'), await addAccount(store, 'b')]
  const session = await addSession(store, a)
  for (let i = 0; i < 500; i++) void post(store, a, session, [toAccount(b)])
  await post(store, a, session, [toAccount(b), toAccount(a)])
  const counted = async (account: number) =>
    (await store.people.traffic(account)).map(({ peer, sent, heard }) => ({ peer, sent, heard }))
  const expected = [[{ peer: b.id, sent: 501, heard: 0 }], [{ peer: a.id, sent: 0, heard: 501 }]]
  expect([await counted(a.id), await counted(b.id)]).toEqual(expected)
  await store.close()
  const index = new Database(join(folder.path, 'search.sqlite'))
  index.run('PRAGMA busy_timeout = 5000')
  index.run('DROP TABLE traffic')
  index.run('PRAGMA user_version = 0')
  index.close()
  store = await openStore(path)
  expect([await counted(a.id), await counted(b.id)]).toEqual(expected)
  await store.close()
})
