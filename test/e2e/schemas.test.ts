// Stores of every released schema: opened with all that is in them, killed at steps of their migration, put back from the copy.
import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MIGRATIONS } from '../../src/store/schema.ts'
import { asOfSchema } from '../support/old-schema.ts'
import { report } from '../support/results.ts'
import { Kept } from './support/kept.ts'
import { BINARY, Mailbox } from './support/mailbox.ts'

/** Places at which a migration is killed, of all the system calls that write; each with M4A_EVERY_STEP. */
const KILLS = process.env.M4A_EVERY_STEP ? 10_000 : 10
const VERSIONS = MIGRATIONS.slice(1).map((_, index) => index + 1)
const began = performance.now()
let stores = 0
let kills = 0
const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

const store = (mailbox: Mailbox) => join(mailbox.data, 'mail.sqlite')
const version = (path: string): number => {
  const db = new Database(path)
  try {
    expect(db.query('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
    return Number(Object.values(db.query('PRAGMA user_version').get() ?? {})[0])
  } finally {
    db.close()
  }
}

test.each(VERSIONS)(
  'schema %d: every letter, state, key and cursor is there, and the copy from before is one that can be put back',
  async (old) => {
    await using mailbox = await Mailbox.start()
    const kept = await Kept.write(mailbox)
    const before = await kept.shown()
    await mailbox.down()
    asOfSchema(store(mailbox), old)
    await mailbox.up()
    expect(await kept.shown()).toEqual(before)
    expect(await kept.repeats()).toBe(true)
    await mailbox.down()
    const copy = `${store(mailbox)}.before-schema-${MIGRATIONS.length}`
    expect(version(copy)).toBe(old)
    expect(version(store(mailbox))).toBe(MIGRATIONS.length)

    const restored = Bun.spawnSync([BINARY, 'admin', 'restore', copy, '--data-dir', mailbox.data, '--json'], {
      env: { PATH: process.env.PATH ?? '', HOME: mailbox.root, M4A_RECOGNISED_AGENTS: '' },
    })
    expect({ code: restored.exitCode, err: String(restored.stderr) }).toEqual({ code: 0, err: expect.any(String) })
    await mailbox.up()
    // a restored store has another epoch: a cursor from before is refused, and all else is as it was
    const gone = await kept.ask('bob', 'inbox', { cursor: kept.cursor }).catch(String)
    expect(gone).toContain('cursor_expired')
    kept.cursor = (await kept.ask('bob', 'inbox', { state: 'all', limit: 3, brief: true })).cursor
    const after = await kept.shown()
    const [one, other] = [after, before].map((shown) => Object.values(shown).map((list) => list.messages ?? list))
    expect(one).toEqual(other)
    stores++
  },
  60_000,
)

test('of a newer schema: refused by name, and left as it is', async () => {
  await using mailbox = await Mailbox.start()
  await mailbox.down()
  const db = new Database(store(mailbox))
  db.run(`PRAGMA user_version = ${MIGRATIONS.length + 1}`)
  db.close()
  const refused = await mailbox.up().catch(String)
  expect(refused).toContain('this store was written by a newer mail4agent')
  expect(version(store(mailbox))).toBe(MIGRATIONS.length + 1)
}, 30_000)

test('killed at steps of the migration: each is before or after, nothing is lost, and the next start goes on', async () => {
  await using mailbox = await Mailbox.start()
  const kept = await Kept.write(mailbox, 30)
  const before = await kept.shown()
  await mailbox.down()
  asOfSchema(store(mailbox), 1)
  const saved = mkdtempSync(join(tmpdir(), 'm4a-schema-'))
  folders.push(saved)
  cpSync(mailbox.data, saved, { recursive: true })
  const anew = () => {
    rmSync(mailbox.data, { recursive: true })
    mkdirSync(mailbox.data, { mode: 0o700 })
    cpSync(saved, mailbox.data, { recursive: true })
  }

  const steps = await migrationSteps(mailbox)
  expect(steps).toBeGreaterThan(20)
  const stride = Math.max(1, Math.floor(steps / KILLS))
  const seen = new Set<number>()
  for (let at = 1; at <= steps; at += stride) {
    anew()
    if (!(await killedAt(mailbox, at))) continue
    kills++
    const left = join(mailbox.root, 'left.sqlite')
    for (const suffix of ['', '-wal']) {
      rmSync(left + suffix, { force: true })
      if (existsSync(store(mailbox) + suffix)) copyFileSync(store(mailbox) + suffix, left + suffix)
    }
    const reached = version(left)
    expect(reached).toBeGreaterThanOrEqual(1)
    expect(reached).toBeLessThanOrEqual(MIGRATIONS.length)
    seen.add(reached)
    await mailbox.up()
    expect(await kept.shown()).toEqual(before)
    await mailbox.down()
    expect(version(`${store(mailbox)}.before-schema-${MIGRATIONS.length}`)).toBeLessThan(MIGRATIONS.length)
  }
  expect(kills).toBeGreaterThan(4)
  expect(seen.size).toBeGreaterThan(1)
}, 3_600_000)

const WRITES = 'pwrite64,fdatasync,fsync,ftruncate,rename,unlink'

/** System calls that write until the mailbox serves, counted in its first thread, which migrates. */
async function migrationSteps(mailbox: Mailbox): Promise<number> {
  const trace = join(mailbox.root, 'trace')
  const daemon = serve(mailbox, ['-o', trace, '-e', `trace=${WRITES}`])
  await published(mailbox, daemon)
  await end(mailbox, daemon)
  const lines = readFileSync(trace, 'utf8').split('\n')
  const first = lines[0]?.split(' ')[0]
  const own = lines.filter((line) => line.startsWith(`${first} `) && line.includes('('))
  const last = own.findLastIndex((line) => line.includes('before-schema'))
  return Math.max(last, own.length)
}

/** kill -9 at that call of any of its threads; false where it came up before. */
async function killedAt(mailbox: Mailbox, at: number): Promise<boolean> {
  const inject = `inject=${WRITES}:signal=KILL:when=${at}`
  const daemon = serve(mailbox, ['-o', '/dev/null', '-e', `trace=${WRITES}`, '-e', inject])
  const up = await published(mailbox, daemon)
  if (up) await end(mailbox, daemon)
  return !up
}

function serve(mailbox: Mailbox, options: readonly string[]) {
  rmSync(join(mailbox.data, 'daemon.json'), { force: true })
  return Bun.spawn(['strace', '-f', ...options, BINARY, 'serve', '--data-dir', mailbox.data, '--port', '0'], {
    env: { PATH: process.env.PATH ?? '', HOME: mailbox.root, M4A_RECOGNISED_AGENTS: '' },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  })
}

/** Whether it serves; false once it has ended. */
async function published(mailbox: Mailbox, daemon: Bun.Subprocess): Promise<boolean> {
  for (let tries = 0; tries < 3_000; tries++) {
    if (existsSync(join(mailbox.data, 'daemon.json'))) return true
    if (daemon.exitCode !== null || daemon.signalCode !== null) return false
    await Bun.sleep(20)
  }
  daemon.kill('SIGKILL')
  throw new Error('the mailbox neither serves nor ends')
}

/** The mailbox itself: strace hands the signal on to nobody. */
async function end(mailbox: Mailbox, daemon: Bun.Subprocess): Promise<void> {
  const { pid } = JSON.parse(readFileSync(join(mailbox.data, 'daemon.json'), 'utf8'))
  process.kill(pid, 'SIGTERM')
  await daemon.exited
}

test('what was run', () => {
  report({
    suite: 'schemas',
    topic: 'upgrades',
    what: 'stores of every schema opened with all that is in them; migrations killed at their system calls; copies put back',
    run: 'M4A_KEEP_RESULTS=1 npm run bun -- test --timeout 180000 test/e2e/schemas.test.ts',
    seconds: Math.round((performance.now() - began) / 100) / 10,
    cases: { count: stores + kills, what: 'stores' },
    seeds: [],
    faults: { 'kill -9 in a migration': kills },
    load: null,
    lost: 0,
    wrong: 0,
    figures: { schemas: VERSIONS.length },
  })
})
