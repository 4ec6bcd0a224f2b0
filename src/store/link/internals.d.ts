// What fake-indexeddb 6.2.8 does not export, as the journal uses it. The version is pinned; a test fails when one of these is gone.

declare module '*/build/esm/lib/ObjectStore.js' {
  export type Rollback = (() => void)[]
  export type StoredRecord = { key: unknown; value: unknown }
  export type RawIndex = { name: string; keyPath: unknown; multiEntry: boolean; unique: boolean; initialized: boolean }
  export default class RawObjectStore {
    constructor(database: unknown, name: string, keyPath: unknown, autoIncrement: boolean)
    readonly name: string
    readonly keyPath: unknown
    readonly autoIncrement: boolean
    readonly records: { get(key: unknown): StoredRecord | undefined; values(range?: unknown): Iterable<StoredRecord> }
    readonly rawIndexes: Map<string, RawIndex>
    storeRecord(record: StoredRecord, noOverwrite: boolean, rollback?: Rollback): unknown
    deleteRecord(key: unknown, rollback?: Rollback): void
    clear(rollback?: Rollback): void
  }
}

declare module '*/build/esm/lib/Index.js' {
  import type { RawIndex } from '*/build/esm/lib/ObjectStore.js'

  const Index: new (store: unknown, name: string, keyPath: unknown, multiEntry: boolean, unique: boolean) => RawIndex
  export default Index
}

declare module '*/build/esm/lib/Database.js' {
  import type RawObjectStore from '*/build/esm/lib/ObjectStore.js'
  export default class RawDatabase {
    constructor(name: string, version: number)
    readonly name: string
    readonly version: number
    readonly rawObjectStores: Map<string, RawObjectStore>
  }
}

declare module '*/build/esm/FDBTransaction.js' {
  import type RawDatabase from '*/build/esm/lib/Database.js'
  import type { Rollback } from '*/build/esm/lib/ObjectStore.js'
  export default class FDBTransaction {
    readonly mode: 'readonly' | 'readwrite' | 'versionchange'
    readonly db: { _rawDatabase: RawDatabase }
    readonly _rollbackLog: Rollback
    _state: string
    _abort(name: string | null): void
    dispatchEvent(event: { type: string }): boolean
  }
}

declare module '*/build/esm/FDBFactory.js' {
  import type RawDatabase from '*/build/esm/lib/Database.js'
  export default class FDBFactory {
    readonly _databases: Map<string, RawDatabase>
  }
}

declare module '*/build/esm/FDBKeyRange.js' {
  const FDBKeyRange: { new (): object; only(key: unknown): object }
  export default FDBKeyRange
}

declare module '*/build/esm/FDBCursor.js'
declare module '*/build/esm/FDBCursorWithValue.js'
declare module '*/build/esm/FDBDatabase.js'
declare module '*/build/esm/FDBIndex.js'
declare module '*/build/esm/FDBObjectStore.js'
declare module '*/build/esm/FDBOpenDBRequest.js'
declare module '*/build/esm/FDBRequest.js'
declare module '*/build/esm/FDBVersionChangeEvent.js'
