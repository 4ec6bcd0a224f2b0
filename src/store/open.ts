// Opening the store: lock, version checks, migrations, threads. `:memory:` gives the same store without files and threads.

import type { Database } from 'bun:sqlite'
import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Refusal } from '../wire/refusal.ts'
import { inlineCommitter, threadCommitter } from './committer.ts'
import { checkSqlite, connect } from './connect.ts'
import { diskRefusal, isDamage } from './disk.ts'
import { inlineHousekeeper, threadHousekeeper } from './housekeeper.ts'
import { lock } from './lock.ts'
import { migrate } from './migrate.ts'
import { Queue } from './queue.ts'
import { type Parts, SqliteStore } from './sqlite-store.ts'
import type { Store } from './store.ts'
import { tornLog } from './torn-log.ts'

/** Eight hex digits that tell this store from what a restore makes of it. */
export const newEpoch = (): string => Buffer.from(crypto.getRandomValues(new Uint8Array(4))).toString('hex')

function epochOf(db: Database): string {
  db.run("INSERT OR IGNORE INTO meta(key, value) VALUES('epoch', ?)", [newEpoch()])
  return db.query<{ value: string }, []>("SELECT value FROM meta WHERE key = 'epoch'").get()?.value ?? ''
}

/**
 * Opens or creates the store at `path` (its lock and its search index lie beside it) or one in memory.
 * `onBroken` is told when the writer thread has died: nothing more can be written, the daemon should end.
 * @throws Refusal `already_running`, `newer_store`, `damaged_store`, `store_unavailable`, `bad_permissions`
 */
export async function openStore(
  path: string | ':memory:',
  onBroken: (reason: string) => void = () => {},
): Promise<Store> {
  if (path === ':memory:') {
    const db = connect(path, 'FULL')
    const sqlite = checkSqlite(db)
    migrate(db, null)
    const queue: Parts['queue'] = (before, after) => new Queue(inlineCommitter(db), before, after)
    return new SqliteStore({
      db,
      path: null,
      epoch: epochOf(db),
      sqlite,
      queue,
      housekeeper: inlineHousekeeper(db),
      release() {},
    })
  }
  const folder = dirname(path)
  const held = lockIn(folder)
  try {
    const isUnclean = checkLog(path)
    const db = connect(path, 'FULL')
    const sqlite = checkSqlite(db)
    migrate(db, path)
    const epoch = epochOf(db)
    let queue: Queue | null = null
    const [committer, housekeeper] = await Promise.all([
      threadCommitter(path, (reason) => {
        queue?.break(reason)
        onBroken(reason)
      }),
      threadHousekeeper(path, join(folder, 'search.sqlite'), epoch, (reason) => queue?.damaged(reason)),
    ])
    const make: Parts['queue'] = (before, after) => {
      queue = new Queue(committer, before, after)
      return queue
    }
    const store = new SqliteStore({ db, path, epoch, sqlite, queue: make, housekeeper, release: held.release })
    if (isUnclean) void lookThrough(store)
    return store
  } catch (error) {
    held.release()
    if (error instanceof Error && isDamage(error.message))
      throw new Refusal('damaged_store', `the store cannot be read: ${error.message}`)
    throw diskRefusal(error, path, ANOTHER) ?? error
  }
}

/**
 * Whether the last mailbox on it was killed: one that stops leaves no log.
 * @throws Refusal `damaged_store` where letters are in the log that SQLite would leave out
 */
function checkLog(path: string): boolean {
  const log = `${path}-wal`
  const reason = tornLog(log)
  if (reason !== null)
    throw new Refusal(
      'damaged_store',
      `the write-ahead log ${log} is damaged: ${reason}; letters are in it`,
      { path: log },
      'restore a backup with: mail4agent admin restore <file>; it keeps what is there beside it',
    )
  return (statSync(log, { throwIfNoEntry: false })?.size ?? 0) > 0
}

/** After a crash every page is read once, away from the mail: what a failing disk has left is found before anybody relies on it. */
async function lookThrough(store: SqliteStore): Promise<void> {
  try {
    const { integrity } = await store.inspect()
    if (integrity !== 'ok') store.damaged(integrity)
  } catch (error) {
    if (error instanceof Error && isDamage(error.message)) store.damaged(error.message)
  }
}

const ANOTHER = 'choose another folder with --data-dir'

function lockIn(folder: string): ReturnType<typeof lock> {
  const path = join(folder, 'lock')
  try {
    return lock(path)
  } catch (error) {
    throw diskRefusal(error, path, ANOTHER) ?? error
  }
}
