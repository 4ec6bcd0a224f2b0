// Opening the store: lock, version checks, migrations, threads. `:memory:` gives the same store without files and threads.

import type { Database } from 'bun:sqlite'
import { dirname, join } from 'node:path'
import { Refusal } from '../wire/refusal.ts'
import { inlineCommitter, threadCommitter } from './committer.ts'
import { checkSqlite, connect } from './connect.ts'
import { diskRefusal } from './disk.ts'
import { inlineHousekeeper, threadHousekeeper } from './housekeeper.ts'
import { lock } from './lock.ts'
import { migrate } from './migrate.ts'
import { Queue } from './queue.ts'
import { type Parts, SqliteStore } from './sqlite-store.ts'
import type { Store } from './store.ts'

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
      threadHousekeeper(path, join(folder, 'search.sqlite'), epoch),
    ])
    const make: Parts['queue'] = (before, after) => {
      queue = new Queue(committer, before, after)
      return queue
    }
    return new SqliteStore({ db, path, epoch, sqlite, queue: make, housekeeper, release: held.release })
  } catch (error) {
    held.release()
    if (error instanceof Error && /malformed|not a database|corrupt/i.test(error.message))
      throw new Refusal('damaged_store', `the store cannot be read: ${error.message}`)
    throw diskRefusal(error, path, ANOTHER) ?? error
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
