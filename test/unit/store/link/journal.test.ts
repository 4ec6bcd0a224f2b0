// The keys on the disk: what the crypto library did is there when it says so; what could not be written did not happen.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import manifest from '../../../../package.json'
import { loadLibrary } from '../../../../src/link/crypto/library.ts'
import { installIndexedDb, PATCHED } from '../../../../src/store/link/indexeddb.ts'
import { JOURNAL_SCHEMA, Journal } from '../../../../src/store/link/journal.ts'
import { fromJson, toJson } from '../../../../src/store/link/tagged.ts'

test('the pinned internals are those that the journal was made for', () => {
  expect(manifest.dependencies['fake-indexeddb']).toBe('6.2.8')
  expect(manifest.dependencies['@matrix-org/matrix-sdk-crypto-wasm']).toBe('18.9.0')
  for (const name of ['storeRecord', 'deleteRecord', 'clear'] as const) expect(PATCHED.store[name]).toBeFunction()
  for (const name of ['dispatchEvent', '_abort'] as const) expect(PATCHED.transaction[name]).toBeFunction()
})

test('every value that is stored comes back as it was', () => {
  const leaf = fc.oneof(
    fc.string(),
    fc.double(),
    fc.boolean(),
    fc.constant(null),
    fc.constant(undefined),
    fc.bigInt(),
    fc.uint8Array(),
  )
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      leaf,
      fc.array(tie('tree')),
      fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 17, maxLength: 40 }),
      fc.dictionary(fc.string(), tie('tree')),
      fc.array(fc.tuple(fc.string(), tie('tree'))).map((pairs) => new Map(pairs)),
    ),
  }))
  fc.assert(fc.property(tree, (value) => expect(fromJson(toJson(value))).toEqual(value)))
  expect(() => toJson(new (class Odd {})())).toThrow('cannot keep')
})

const request = <T>(made: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    made.onsuccess = () => resolve(made.result)
    made.onerror = () => reject(made.error)
  })

async function openBase(name: string): Promise<IDBDatabase> {
  const opening = indexedDB.open(name, 1)
  opening.onupgradeneeded = () => {
    const store = opening.result.createObjectStore('things', { keyPath: 'id' })
    store.createIndex('kind', 'kind')
  }
  return request(opening)
}

test('a transaction is on the disk when it is complete; one that cannot be written is undone in memory too', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'm4a-journal-')), 'keys.sqlite')
  const db = new Database(path, { create: true })
  db.run(JOURNAL_SCHEMA)
  let uninstall = installIndexedDb(new Journal(db))
  const base = await openBase('base')
  const put = (value: object) =>
    new Promise<string>((resolve) => {
      const transaction = base.transaction('things', 'readwrite')
      transaction.objectStore('things').put(value)
      transaction.oncomplete = () => resolve('complete')
      transaction.onabort = () => resolve('aborted')
    })
  expect(await put({ id: 1, kind: 'a', bytes: new Uint8Array([1, 2, 3]) })).toBe('complete')
  expect(db.query('SELECT count(*) AS n FROM crypto_record').get()).toEqual({ n: 1 })
  db.run('PRAGMA query_only = 1') // as a full disk
  expect(await put({ id: 2, kind: 'a' })).toBe('aborted')
  db.run('PRAGMA query_only = 0')
  expect(await put({ id: 3, kind: 'b' })).toBe('complete')
  uninstall()

  uninstall = installIndexedDb(new Journal(db))
  const again = await openBase('base')
  const store = again.transaction('things').objectStore('things')
  expect(await request(store.getAllKeys())).toEqual([1, 3])
  expect(await request(store.index('kind').getAll('a'))).toEqual([
    { id: 1, kind: 'a', bytes: new Uint8Array([1, 2, 3]) },
  ])
  uninstall()
})

test('the library keeps its identity across openings, and a wrong key opens nothing', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'm4a-journal-')), 'keys.sqlite')
  const db = new Database(path, { create: true })
  db.run(JOURNAL_SCHEMA)
  const lib = await loadLibrary()
  const open = async (key: Uint8Array) => {
    const uninstall = installIndexedDb(new Journal(db))
    try {
      const store = await lib.StoreHandle.openWithKey('olm', key)
      const machine = await lib.OlmMachine.initFromStore(new lib.UserId('@a:x'), new lib.DeviceId('D'), store)
      const fingerprint = machine.identityKeys.ed25519.toBase64()
      machine.close()
      return fingerprint
    } catch (error) {
      return String(error)
    } finally {
      uninstall()
    }
  }
  const first = await open(new Uint8Array(32).fill(1))
  expect(first).toMatch(/^[A-Za-z0-9+/]{43}$/)
  expect(await open(new Uint8Array(32).fill(1))).toBe(first)
  expect(await open(new Uint8Array(32).fill(2))).toContain('decrypt')
  const clear = db.query<{ value: string }, []>('SELECT value FROM crypto_record').all()
  expect(clear.map(({ value }) => value).join()).not.toContain(first)
})
