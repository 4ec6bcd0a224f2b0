// Care for the whole file: copies of it, looks through it, and its figures.
import { statSync } from 'node:fs'
import { copyInThread, inspectInThread } from './housekeeper.ts'
import { inspect } from './inspect.ts'
import type { Queue } from './queue.ts'
import type { Parts } from './sqlite-store.ts'
import type { Store } from './store.ts'
import { oneLine, verifyFile } from './verify.ts'

export class Upkeep {
  constructor(
    private parts: Pick<Parts, 'db' | 'path' | 'sqlite'>,
    private store: Pick<Store, 'head' | 'epoch' | 'registry'>,
    private queue: Queue,
  ) {}

  async backup(path: string): ReturnType<Store['backup']> {
    const { db, path: own } = this.parts
    const least = this.store.head
    if (!own) db.run('VACUUM INTO ?', [path])
    const made = own ? await copyInThread(own, path) : verifyFile(path)
    // what was acknowledged before it began is in it
    if (made.epoch !== this.store.epoch || made.head < least) throw new Error('the copy is not of this store as it is')
    return { bytes: statSync(path).size, ...made }
  }

  async inspect(): ReturnType<Store['inspect']> {
    return this.parts.path ? inspectInThread(this.parts.path) : inspect(this.parts.db, 0, Date.now())
  }

  check(): string {
    const rows = this.parts.db.query<{ integrity_check: string }, []>('PRAGMA integrity_check(20)').all()
    return rows.map((row) => oneLine(row.integrity_check)).join('; ')
  }

  stats(): ReturnType<Store['stats']> {
    const { db, path, sqlite } = this.parts
    const { registry } = this.store
    const size = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0
    return {
      sqlite,
      messages: db.query<{ n: number | null }, []>('SELECT max(id) AS n FROM message').get()?.n ?? 0,
      sessions: registry.liveSessions().length,
      accounts: registry.accounts().length,
      walBytes: path ? size(`${path}-wal`) : 0,
      fileBytes: path ? size(path) : 0,
      queued: this.queue.queued,
      commits: this.queue.commits,
      committed: this.queue.committed,
    }
  }
}
