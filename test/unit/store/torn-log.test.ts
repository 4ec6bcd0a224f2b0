// A write-ahead log of which SQLite would leave out whole commits is told from one that a crash has cut off.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openStore } from '../../../src/store/open.ts'
import { tornLog } from '../../../src/store/torn-log.ts'
import { Refusal } from '../../../src/wire/refusal.ts'
import { tempFolder } from '../../support/temp.ts'

const folder = tempFolder()
const path = join(folder.path, 'torn')
const PAGE = 4096
const FRAME = PAGE + 24
let log: Buffer
/** Frames up to the end of each commit. */
const commits: number[] = []

beforeAll(() => {
  const db = new Database(join(folder.path, 'a.sqlite'), { create: true })
  db.run('PRAGMA journal_mode = WAL')
  db.run('PRAGMA wal_autocheckpoint = 0')
  db.run('CREATE TABLE t(x)')
  for (let i = 0; i < 20; i++) db.run('INSERT INTO t VALUES(?)', ['x'.repeat(i * 900)])
  log = readFileSync(join(folder.path, 'a.sqlite-wal'))
  copyFileSync(join(folder.path, 'a.sqlite'), join(folder.path, 'base.sqlite'))
  db.close()
  for (let at = 32, frame = 1; at < log.length; at += FRAME, frame++) if (log.readUInt32BE(at + 4)) commits.push(frame)
})
afterAll(() => folder[Symbol.dispose]())

function verdictOn(bytes: Uint8Array): string | null {
  writeFileSync(path, bytes)
  return tornLog(path)
}
const flipped = (at: number) => {
  const bytes = Buffer.from(log)
  bytes[at] = (bytes[at] ?? 0) ^ 0x10
  return bytes
}

test('none, an empty one and a whole one are well', () => {
  expect(tornLog(join(folder.path, 'nowhere'))).toBeNull()
  expect(verdictOn(new Uint8Array())).toBeNull()
  expect(verdictOn(log)).toBeNull()
  expect(commits.length).toBeGreaterThan(20)
})

test('one that ends anywhere is what a crash leaves', () => {
  for (let length = 0; length < log.length; length += 997) expect(verdictOn(log.subarray(0, length))).toBeNull()
})

test('of the last commit any part may be missing: it was not acknowledged', () => {
  const [before = 0] = commits.slice(-2)
  for (let frame = before; frame < commits.at(-1)!; frame++)
    expect(verdictOn(Buffer.from(log).fill(0, 32 + frame * FRAME, 32 + (frame + 1) * FRAME))).toBeNull()
})

test('a byte that has changed in any page or head but those of the last two commits is damage', () => {
  const frames = commits.at(-3) ?? 0
  for (let frame = 0; frame < frames; frame++)
    for (const offset of [0, 4, 8, 12, 16, 20, 24, 2_000, FRAME - 1])
      expect([frame, offset, verdictOn(flipped(32 + frame * FRAME + offset))]).toEqual([
        frame,
        offset,
        `its frame ${frame + 1} is damaged, and later ones are there`,
      ])
  for (let at = 0; at < 32; at++) if (at >= 16 || at < 12) expect(verdictOn(flipped(at))).toBe('its head is damaged')
})

test('what failed commits have left behind the end is no damage: they were refused', () => {
  // three commits after the same beginning, each over the one before it, as on a disk that was full twice
  const [good, second, first] = [1_000, 30_000, 90_000].map((bytes) => {
    const own = join(folder.path, `after-${bytes}`)
    copyFileSync(join(folder.path, 'base.sqlite'), own)
    writeFileSync(`${own}-wal`, log)
    const db = new Database(own)
    db.run('PRAGMA wal_autocheckpoint = 0')
    db.run('INSERT INTO t VALUES(?)', ['y'.repeat(bytes)])
    const after = readFileSync(`${own}-wal`)
    db.close()
    return after
  }) as [Buffer, Buffer, Buffer]
  expect(good.subarray(0, log.length).equals(log)).toBe(true)
  expect(log.length < good.length && good.length < second.length && second.length < first.length).toBe(true)
  const left = Buffer.concat([good, second.subarray(good.length), first.subarray(second.length)])
  expect(verdictOn(left)).toBeNull()
})

test('a log of an earlier round behind a new one is none', () => {
  const stale = Buffer.from(log)
  for (let at = 32 + 5 * FRAME; at < stale.length; at += FRAME)
    stale.writeUInt32BE(stale.readUInt32BE(at + 8) - 1, at + 8)
  expect(verdictOn(stale)).toBeNull()
})

test('a store with such a log is not opened, and nothing in it is changed', async () => {
  const data = join(folder.path, 'store')
  mkdirSync(data)
  const file = join(data, 'mail.sqlite')
  await (await openStore(file)).close()
  writeFileSync(`${file}-wal`, flipped(32 + 200))
  const before = readFileSync(file)
  const error = await openStore(file).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(Refusal)
  expect(error).toMatchObject({ kind: 'damaged_store', message: expect.stringContaining(`${file}-wal`) })
  expect(readFileSync(file).equals(before)).toBe(true)
  expect(readFileSync(`${file}-wal`).equals(flipped(32 + 200))).toBe(true)
})
