// The store on disk: group commit on the writer thread, one lock, versions, epochs, keys, search, time.

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openStore } from '../../../src/store/open.ts'
import { restore } from '../../../src/store/restore.ts'
import { MIGRATIONS } from '../../../src/store/schema.ts'
import { asOfSchema } from '../../support/old-schema.ts'
import { addAccount, addSession, post, shown, toAccount } from '../../support/population.ts'
import { tempFolder } from '../../support/temp.ts'

async function onDisk(folder: string) {
  const store = await openStore(join(folder, 'mail.sqlite'))
  const a = store.registry.account('alice') ?? (await addAccount(store, 'alice'))
  const s = store.registry.liveSessions()[0] ?? (await addSession(store, a))
  return { store, a, s }
}

test('what was acknowledged is there after opening again, in order, and ids go on', async () => {
  using folder = tempFolder()
  const first = await onDisk(folder.path)
  const sent = await Promise.all(
    Array.from({ length: 300 }, () => post(first.store, first.a, first.s, [toAccount(first.a)])),
  )
  expect(first.store.stats().commits).toBeLessThan(100)
  first.s.given = 7
  first.s.told = 9
  first.store.touchSession(first.s)
  await first.store.close()
  const again = await onDisk(folder.path)
  expect(shown(again.store, again.a, again.s)).toEqual(sent.map((one) => one.id))
  expect(again.s.given).toBe(7)
  expect(again.s.told).toBe(9)
  expect((await post(again.store, again.a, again.s, [toAccount(again.a)])).id).toBeGreaterThan(sent.at(-1)!.id)
  expect(again.store.check()).toBe('ok')
  expect(again.store.epoch).toBe(first.store.epoch)
  await again.store.close()
})

test('how far a session had read is on disk with its end, whatever comes after', async () => {
  using folder = tempFolder()
  const { store, a, s } = await onDisk(folder.path)
  store.touchSession(s)
  await post(store, a, s, [toAccount(a)]) // takes along what was kept back: what follows is not due for a second
  s.given = 7
  s.opened = 5
  s.corroborated = { ...s.corroborated, provider_session_id: 'found-later' }
  store.touchSession(s)
  await store.endSession(s)
  const disk = new Database(join(folder.path, 'mail.sqlite'), { readonly: true })
  const row = disk.query('SELECT given, opened, provider_session AS provider FROM session WHERE id = ?').get(s.id)
  disk.close()
  expect(row).toEqual({ given: 7, opened: 5, provider: 'found-later' })
  await store.close()
})

test('a second daemon on the folder is refused by name', async () => {
  using folder = tempFolder()
  const { store } = await onDisk(folder.path)
  await expect(openStore(join(folder.path, 'mail.sqlite'))).rejects.toMatchObject({ kind: 'already_running' })
  await store.close()
  await (await openStore(join(folder.path, 'mail.sqlite'))).close()
})

test.each(MIGRATIONS.slice(1).map((_, index) => index + 1))(
  'a store of schema %d is brought to this one, and a copy of it is kept',
  async (version) => {
    using folder = tempFolder()
    const path = join(folder.path, 'mail.sqlite')
    const { store, a, s } = await onDisk(folder.path)
    const { id } = await post(store, a, s, [toAccount(a)])
    await store.close()
    asOfSchema(path, version)
    const again = await onDisk(folder.path)
    expect(shown(again.store, again.a, again.s)).toEqual([id])
    expect(again.s).toMatchObject({ name: s.name, told: 0 })
    expect([...again.store.sent(again.a.id, [0], Number.MAX_SAFE_INTEGER)].map((one) => one.id)).toEqual([id])
    expect(again.store.check()).toBe('ok')
    await again.store.close()
    const kept = new Database(`${path}.before-schema-${MIGRATIONS.length}`)
    expect(kept.query('PRAGMA user_version').get()).toEqual({ user_version: version })
    kept.close()
  },
)

test('a newer store and a damaged one are refused by name', async () => {
  using folder = tempFolder()
  const path = join(folder.path, 'mail.sqlite')
  await (await onDisk(folder.path)).store.close()
  const db = new Database(path)
  db.run('PRAGMA busy_timeout = 5000')
  db.run('PRAGMA user_version = 99')
  db.close()
  await expect(openStore(path)).rejects.toMatchObject({ kind: 'newer_store', facts: { found: 99 } })
  await Bun.write(path, 'this is no database, and it is long enough to be read as a header of one '.repeat(90))
  await expect(openStore(path)).rejects.toMatchObject({ kind: 'damaged_store' })
})

test('one key makes one message; other content under it is told apart', async () => {
  using folder = tempFolder()
  const { store, a, s } = await onDisk(folder.path)
  const keyed = (hash: string) => post(store, a, s, [toAccount(a)], { idempotency: { key: 'k', hash } })
  const same = await Promise.all(Array.from({ length: 50 }, () => keyed('x')))
  expect(new Set(same.map((one) => one.id)).size).toBe(1)
  expect(same.filter((one) => !one.duplicate)).toHaveLength(1)
  expect(await keyed('y')).toMatchObject({ conflict: true, id: same[0]!.id })
  expect(shown(store, a, s)).toHaveLength(1)
  await store.close()
})

test('one job that cannot be stored does not fail the others of its batch', async () => {
  using folder = tempFolder()
  const { store, a, s } = await onDisk(folder.path)
  // two sends made to share an id: the second breaks the primary key inside one batch
  const good = post(store, a, s, [toAccount(a)])
  const twice = [toAccount(a), toAccount(a)]
  const bad = post(store, a, s, twice)
  const alsoGood = post(store, a, s, [toAccount(a)])
  expect(await bad.catch((error) => error)).toMatchObject({ kind: 'store_unavailable' })
  expect(shown(store, a, s)).toEqual([(await good).id, (await alsoGood).id])
  expect(store.unread(a.box, s.box)).toBe(2)
  await store.close()
})

test('search finds what was just sent, in the boxes that were named, newest first', async () => {
  using folder = tempFolder()
  const { store, a, s } = await onDisk(folder.path)
  const one = await post(store, a, s, [toAccount(a)], { subject: 'Über den Wolken', body: 'a needle and a "quote"' })
  const two = await post(store, a, s, [toAccount(a)], { body: 'another needle' })
  const find = (query: string, scope = { boxes: [a.box], account: 0 }) =>
    store.search(query, scope, Number.MAX_SAFE_INTEGER, 10)
  expect(await find('needle')).toEqual([two.id, one.id])
  expect(await find('uber wolk*')).toEqual([one.id])
  expect(await find('"a needle and"')).toEqual([one.id])
  expect(await find('"quote" OR NEAR( * ^ body:needle')).toEqual([])
  expect(await find('needle', { boxes: [], account: 0 })).toEqual([])
  expect(await find('needle', { boxes: [], account: a.id })).toEqual([two.id, one.id])
  await store.close()
})

test('a restore changes the epoch, and a damaged search index is made again', async () => {
  using folder = tempFolder()
  const { store, a, s } = await onDisk(folder.path)
  const { id } = await post(store, a, s, [toAccount(a)], { body: 'needle' })
  const copy = join(folder.path, 'copy.sqlite')
  await store.backup(copy)
  await store.close()
  await Bun.write(join(folder.path, 'search.sqlite'), 'broken '.repeat(2000))
  restore(copy, join(folder.path, 'mail.sqlite'))
  const again = await onDisk(folder.path)
  expect(again.store.epoch).not.toBe(store.epoch)
  expect(await again.store.search('needle', 'all', Number.MAX_SAFE_INTEGER, 10)).toEqual([id])
  await again.store.close()
})

test('a file that is no backup is refused, and told what one is', () => {
  using folder = tempFolder()
  const file = join(folder.path, 'notes')
  const foreign = join(folder.path, 'other.sqlite')
  writeFileSync(file, 'no database at all, and long enough to be looked at '.repeat(40))
  const db = new Database(foreign)
  db.run('CREATE TABLE other(x)')
  db.run('PRAGMA user_version = 1')
  db.close()
  for (const path of [file, foreign])
    expect(() => restore(path, join(folder.path, 'mail.sqlite'))).toThrow(
      expect.objectContaining({
        kind: 'damaged_store',
        message: 'the file is no backup of a mailbox',
        hint: expect.stringContaining('mail4agent admin backup'),
      }),
    )
  expect(existsSync(join(folder.path, 'mail.sqlite'))).toBe(false)
})
