// Disks that are full and folders that are closed: what is said of them, and that the store is well again by itself.
import { expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inlineCommitter } from '../../../src/store/committer.ts'
import { connect } from '../../../src/store/connect.ts'
import { diskRefusal } from '../../../src/store/disk.ts'
import { migrate } from '../../../src/store/migrate.ts'
import { openStore } from '../../../src/store/open.ts'
import { Queue } from '../../../src/store/queue.ts'
import { tempFolder } from '../../support/temp.ts'

/** SQLite says the same of a file that reached its largest size as of a full disk. */
function fullStore() {
  const db = connect(':memory:', 'FULL')
  migrate(db, null)
  const limit = (pages: number) => db.run(`PRAGMA max_page_count = ${pages}`)
  const { page_count } = db.query<{ page_count: number }, []>('PRAGMA page_count').get() ?? { page_count: 0 }
  limit(page_count)
  const queue = new Queue(
    inlineCommitter(db),
    () => [],
    () => {},
  )
  const write = (subscriber: string) => queue.submit({ k: 'setCursor', subscriber, id: 1 }, () => 'written')
  return { queue, write, makeRoom: () => limit(1_000_000) }
}

test('while the disk is full the store says so, and it is well again without anybody writing', async () => {
  const { queue, write, makeRoom } = fullStore()
  expect(queue.fault).toBeNull()
  const refused = await write('x'.repeat(100_000)).catch((error) => error)
  expect(refused).toMatchObject({ kind: 'store_unavailable', facts: { operation: 'setCursor' } })
  expect(queue.fault).toBe('database or disk is full')
  makeRoom()
  for (let tries = 0; queue.fault !== null && tries < 400; tries++) await Bun.sleep(10)
  expect(queue.fault).toBeNull()
  expect(await write('x'.repeat(100_000))).toBe('written')
  await queue.close()
})

test('a job that cannot be done is no fault of the disk, and closing ends the tries', async () => {
  const { queue, write } = fullStore()
  const bad = { k: 'setCursor', subscriber: null as unknown as string, id: 1 } as const
  expect(await queue.submit(bad, () => {}).catch((error) => error.message)).toContain('NOT NULL')
  expect(queue.fault).toBeNull()
  await write('x'.repeat(100_000)).catch(() => {})
  await queue.close()
})

test('what SQLite and the system say becomes a refusal with the path; other errors do not', () => {
  const system = (code: string, path?: string) =>
    Object.assign(new Error(`${code}: no good, open '/there'`), { code, ...(path === undefined ? {} : { path }) })
  expect(diskRefusal(system('ENOSPC', '/there/file'), '/there', 'choose another')?.toJSON()).toEqual({
    kind: 'store_unavailable',
    message: 'cannot write /there/file: ENOSPC: no good',
    hint: 'make room there, or choose another',
    path: '/there/file',
  })
  for (const code of ['EACCES', 'EROFS'])
    expect(diskRefusal(system(code), '/there', 'choose another')).toMatchObject({
      kind: 'bad_permissions',
      facts: { path: '/there' },
      hint: 'choose another',
    })
  expect(diskRefusal(new Error('database or disk is full'), '/there')?.hint).toBe('make room there, and try again')
  expect(diskRefusal(new Error('no such table: letter'), '/there')).toBeNull()
  expect(diskRefusal(system('EADDRINUSE'), '/there')).toBeNull()
})

test('a store that cannot be opened is refused with its path, and the lock is given back', async () => {
  using folder = tempFolder()
  const path = join(folder.path, 'mail.sqlite')
  mkdirSync(path)
  expect(await openStore(path).catch((error) => error)).toMatchObject({ kind: 'store_unavailable', facts: { path } })
  const elsewhere = join(folder.path, 'other')
  mkdirSync(join(elsewhere, 'lock'), { recursive: true })
  const lock = join(elsewhere, 'lock')
  expect(await openStore(join(elsewhere, 'mail.sqlite')).catch((error) => error)).toMatchObject({
    facts: { path: lock },
  })
  await (await openStore(join(folder.path, 'good.sqlite'))).close()
})

test('a copy that cannot be made is refused with what SQLite says, without the source around it', async () => {
  using folder = tempFolder()
  const store = await openStore(join(folder.path, 'mail.sqlite'))
  const taken = join(folder.path, 'taken')
  writeFileSync(taken, 'something else')
  expect(await store.backup(taken).catch((error) => error.message)).toBe('file is not a database')
  expect(await store.backup(join(folder.path, 'no', 'such')).catch((error) => error.message)).toStartWith(
    'unable to open database',
  )
  await store.close()
})
