// IndexedDB for the crypto library: fake-indexeddb in memory, and the journal written before a transaction says that it is complete.
//
// So whatever the library has waited for is on the disk: a message key is never used twice after a crash. A commit that fails
// (a full disk) aborts the transaction, in memory too, and the call of the library rejects.
// its files import each other in circles: begun with another one, a class comes before the class that it extends
import '../../../node_modules/fake-indexeddb/build/esm/FDBFactory.js'
import FDBCursor from '../../../node_modules/fake-indexeddb/build/esm/FDBCursor.js'
import FDBCursorWithValue from '../../../node_modules/fake-indexeddb/build/esm/FDBCursorWithValue.js'
import FDBDatabase from '../../../node_modules/fake-indexeddb/build/esm/FDBDatabase.js'
import FDBFactory from '../../../node_modules/fake-indexeddb/build/esm/FDBFactory.js'
import FDBIndex from '../../../node_modules/fake-indexeddb/build/esm/FDBIndex.js'
import FDBKeyRange from '../../../node_modules/fake-indexeddb/build/esm/FDBKeyRange.js'
import FDBObjectStore from '../../../node_modules/fake-indexeddb/build/esm/FDBObjectStore.js'
import FDBOpenDBRequest from '../../../node_modules/fake-indexeddb/build/esm/FDBOpenDBRequest.js'
import FDBRequest from '../../../node_modules/fake-indexeddb/build/esm/FDBRequest.js'
import FDBTransaction from '../../../node_modules/fake-indexeddb/build/esm/FDBTransaction.js'
import FDBVersionChangeEvent from '../../../node_modules/fake-indexeddb/build/esm/FDBVersionChangeEvent.js'
import RawDatabase from '../../../node_modules/fake-indexeddb/build/esm/lib/Database.js'
import RawIndex from '../../../node_modules/fake-indexeddb/build/esm/lib/Index.js'
import RawObjectStore, { type Rollback } from '../../../node_modules/fake-indexeddb/build/esm/lib/ObjectStore.js'
import type { Change, Journal } from './journal.ts'
import { fromJson, toJson } from './tagged.ts'

type Dirty = Map<RawObjectStore, Map<string, unknown>>

/** What each transaction has touched, by its rollback log: the one thing that store and transaction share. */
const dirty = new WeakMap<Rollback, Dirty>()
let journal: Journal | null = null

function touch(rollback: Rollback | undefined, store: RawObjectStore, key: unknown): void {
  if (!rollback || !journal) return
  const stores = dirty.get(rollback) ?? new Map()
  const keys = stores.get(store) ?? new Map()
  dirty.set(rollback, stores.set(store, keys.set(toJson(key), key)))
}

/** Every method that is replaced; a release of the library that has them no more must not pass unnoticed. */
export const PATCHED = {
  store: RawObjectStore.prototype,
  transaction: FDBTransaction.prototype,
}

const { storeRecord, deleteRecord, clear } = PATCHED.store
const { dispatchEvent } = PATCHED.transaction
for (const method of [storeRecord, deleteRecord, clear, dispatchEvent, PATCHED.transaction._abort])
  if (typeof method !== 'function') throw new Error('fake-indexeddb is not the release that the journal was made for')

PATCHED.store.storeRecord = function (record, noOverwrite, rollback) {
  const key = storeRecord.call(this, record, noOverwrite, rollback)
  touch(rollback, this, key)
  return key
}
PATCHED.store.deleteRecord = function (key, rollback) {
  const range = key instanceof FDBKeyRange ? key : FDBKeyRange.only(key)
  for (const record of this.records.values(range)) touch(rollback, this, record.key)
  deleteRecord.call(this, key, rollback)
}
PATCHED.store.clear = function (rollback) {
  for (const record of this.records.values()) touch(rollback, this, record.key)
  clear.call(this, rollback)
}
PATCHED.transaction.dispatchEvent = function (event) {
  if (event.type === 'complete' && journal) {
    try {
      keep(journal, this)
    } catch {
      this._state = 'active'
      this._abort('QuotaExceededError')
      return true
    }
  }
  return dispatchEvent.call(this, event)
}

function keep(to: Journal, transaction: FDBTransaction): void {
  const base = transaction.db._rawDatabase
  if (transaction.mode === 'versionchange') {
    const all = [...base.rawObjectStores.values()].flatMap((store) =>
      [...store.records.values()].map(({ key, value }) => change(store, toJson(key), value)),
    )
    to.commit(base.name, all, { name: base.name, version: base.version, shape: shapeOf(base) })
    return
  }
  const touched = dirty.get(transaction._rollbackLog)
  if (!touched || touched.size === 0) return
  const changes: Change[] = []
  for (const [store, keys] of touched)
    for (const [text, key] of keys) {
      const record = store.records.get(key)
      changes.push(record ? change(store, text, record.value) : { store: store.name, key: text, value: null })
    }
  to.commit(base.name, changes, null)
}

const change = (store: RawObjectStore, key: string, value: unknown): Change => ({
  store: store.name,
  key,
  value: toJson(value),
})

type StoreShape = {
  name: string
  keyPath: unknown
  autoIncrement: boolean
  indexes: { name: string; keyPath: unknown; multiEntry: boolean; unique: boolean }[]
}

function shapeOf(base: RawDatabase): string {
  const shape: StoreShape[] = [...base.rawObjectStores.values()].map((store) => ({
    name: store.name,
    keyPath: store.keyPath,
    autoIncrement: store.autoIncrement === true,
    indexes: [...store.rawIndexes.values()].map(({ name, keyPath, multiEntry, unique }) => ({
      name,
      keyPath,
      multiEntry: multiEntry === true,
      unique: unique === true,
    })),
  }))
  return JSON.stringify(shape)
}

function load(from: Journal, name: string, version: number, shape: string): RawDatabase {
  const base = new RawDatabase(name, version)
  const shapes: StoreShape[] = JSON.parse(shape)
  for (const one of shapes) {
    const store = new RawObjectStore(base, one.name, one.keyPath, one.autoIncrement)
    for (const { name: index, keyPath, multiEntry, unique } of one.indexes) {
      const made = new RawIndex(store, index, keyPath, multiEntry, unique)
      made.initialized = true
      store.rawIndexes.set(index, made)
    }
    base.rawObjectStores.set(one.name, store)
  }
  for (const { store, key, value } of from.records(name)) {
    const target = base.rawObjectStores.get(store)
    if (!target) throw new Error(`the crypto store has records of ${store}, which it does not know`)
    storeRecord.call(target, { key: fromJson(key), value: fromJson(value) }, true)
  }
  return base
}

/**
 * Puts an IndexedDB over `from` where the crypto library looks for one, until the function that is returned is called.
 * One at a time: the library finds it by its global name.
 */
export function installIndexedDb(from: Journal): () => void {
  if (journal) throw new Error('an IndexedDB is installed already')
  const factory = new FDBFactory()
  for (const { name, version, shape } of from.bases()) factory._databases.set(name, load(from, name, version, shape))
  const remove = factory._databases.delete.bind(factory._databases)
  factory._databases.delete = (name) => {
    from.drop(name)
    return remove(name)
  }
  journal = from
  const globals = {
    indexedDB: factory,
    IDBCursor: FDBCursor,
    IDBCursorWithValue: FDBCursorWithValue,
    IDBDatabase: FDBDatabase,
    IDBFactory: FDBFactory,
    IDBIndex: FDBIndex,
    IDBKeyRange: FDBKeyRange,
    IDBObjectStore: FDBObjectStore,
    IDBOpenDBRequest: FDBOpenDBRequest,
    IDBRequest: FDBRequest,
    IDBTransaction: FDBTransaction,
    IDBVersionChangeEvent: FDBVersionChangeEvent,
  }
  for (const [name, value] of Object.entries(globals))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true, enumerable: false })
  return () => {
    journal = null
  }
}
