// What can be told of a store without opening it as a mailbox does: its schema, and how far its log goes. Nothing is changed.
import { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { Refusal } from '../wire/refusal.ts'
import { SQL } from './reads/log.ts'

/** `head`: the newest sequence. */
export type Peek = { schema: number; head: number }

/**
 * Null: there is no store at `path`. A mailbox may run on it meanwhile.
 * @throws Refusal `damaged_store`
 */
export function peek(path: string): Peek | null {
  if (!existsSync(path)) return null
  let db: Database | null = null
  try {
    db = new Database(path, { readwrite: true })
    db.run('PRAGMA busy_timeout = 5000')
    const schema = db.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version ?? 0
    return { schema, head: schema === 0 ? 0 : (db.query<{ id: number }, []>(SQL.head).get()?.id ?? 0) }
  } catch (error) {
    throw new Refusal(
      'damaged_store',
      `the store cannot be read: ${error instanceof Error ? error.message : 'unknown'}`,
    )
  } finally {
    db?.close()
  }
}
