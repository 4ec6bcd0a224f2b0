// Looking a store over: what is found, and that nothing beside it or in it changes.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspectFile } from '../../../src/store/inspect.ts'
import { isLocked } from '../../../src/store/lock.ts'
import { openStore } from '../../../src/store/open.ts'
import { MIGRATIONS } from '../../../src/store/schema.ts'
import { addAccount, addSession, post, toAccount } from '../../support/population.ts'
import { tempFolder } from '../../support/temp.ts'

async function written(folder: string) {
  const path = join(folder, 'mail.sqlite')
  const store = await openStore(path)
  const alice = await addAccount(store, 'alice')
  const session = await addSession(store, alice)
  for (let n = 0; n < 3; n++) await post(store, alice, session, [toAccount(alice)])
  return { path, store }
}

test('a store at rest: its schema, its letters, and no file more than before, in a folder with odd characters', async () => {
  using folder = tempFolder()
  const odd = join(folder.path, 'a b?#%20&c')
  await Bun.write(join(odd, 'note'), '')
  const { path, store } = await written(odd)
  await store.close()
  const files = () => readdirSync(odd).map((name) => [name, Bun.hash(readFileSync(join(odd, name)))])
  // the connection of the search thread ends a moment after its thread
  let before = files()
  for (let last: typeof before = []; !Bun.deepEquals(last, before); before = files()) {
    last = before
    await Bun.sleep(100)
  }
  const report = inspectFile(path, Date.now())
  expect(report).toMatchObject({ known: MIGRATIONS.length, schema: MIGRATIONS.length, integrity: 'ok', letters: 3 })
  expect(report.future).toBeNull()
  expect(files()).toEqual(before)
})

test('a store at work is looked through by a thread, and letters still in its log are counted', async () => {
  using folder = tempFolder()
  const { store } = await written(folder.path)
  expect(await store.inspect()).toMatchObject({ integrity: 'ok', letters: 3 })
  await store.close()
  const inMemory = await openStore(':memory:')
  expect(await inMemory.inspect()).toMatchObject({ integrity: 'ok', letters: 0 })
  await inMemory.close()
})

test('letters of the future are counted, with the last of them', async () => {
  using folder = tempFolder()
  const { path, store } = await written(folder.path)
  await store.close()
  const latest = inspectFile(path, Date.now() - 3_600_000).future
  expect(latest?.count).toBe(3)
  expect(latest?.latest).toBeGreaterThan(Date.now() - 60_000)
})

test('a newer store is not read', async () => {
  using folder = tempFolder()
  const { path, store } = await written(folder.path)
  await store.close()
  const db = new Database(path)
  db.run('PRAGMA user_version = 9999')
  db.close()
  expect(inspectFile(path, 0)).toMatchObject({ schema: 9_999, letters: 0, future: null })
})

test('a torn store is named', async () => {
  using folder = tempFolder()
  const { path, store } = await written(folder.path)
  await store.close()
  const torn = join(folder.path, 'torn.sqlite')
  await Bun.write(torn, readFileSync(path).subarray(0, 4096 * 3))
  let integrity = ''
  try {
    integrity = inspectFile(torn, 0).integrity
  } catch (error) {
    integrity = error instanceof Error ? error.message : ''
  }
  expect(integrity).toMatch(/malformed|page|corrupt/i)
})

test('whether a mailbox holds the lock is seen without taking or making one', async () => {
  using folder = tempFolder()
  const lock = join(folder.path, 'lock')
  expect(isLocked(lock)).toBe(false)
  expect(readdirSync(folder.path)).toEqual([])
  const { store } = await written(folder.path)
  const code = `const { isLocked } = await import(${JSON.stringify(join(import.meta.dir, '../../../src/store/lock.ts'))});
    console.log(isLocked(${JSON.stringify(lock)}))`
  const seen = () => Bun.spawnSync([process.execPath, '-e', code]).stdout.toString().trim()
  expect([seen(), isLocked(lock), seen()]).toEqual(['true', true, 'true'])
  await store.close()
  expect([seen(), isLocked(lock)]).toEqual(['false', false])
})
