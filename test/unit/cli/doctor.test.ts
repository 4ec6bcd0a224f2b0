// mail4agent doctor in this process: exit codes, JSON, colour, and what it says of doorbells and of mail that nobody reads.
import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { chmodSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Daemon, startDaemon } from '../../../src/door/daemon.ts'
import { folder, silent } from '../door/support.ts'
import { type Shell, sh } from './shell.ts'

let place: ReturnType<typeof folder>
let daemon: Daemon
let dataDir: string

const start = async () => {
  daemon = await startDaemon({ dataDir, port: 0, socket: join(dataDir, 'm4a.sock'), recognised: [], log: silent })
}
beforeEach(async () => {
  place = folder()
  dataDir = join(place.path, 'data')
  await start()
})
afterEach(async () => {
  await daemon.stop()
  place[Symbol.dispose]()
})

const env = () => ({ M4A_DATA_DIR: dataDir, PATH: '/nowhere', M4A_RECOGNISED_AGENTS: '' })
const run = (words: string[], shell: Shell = {}) => sh(words, { env: env(), home: place.path, now: Date.now, ...shell })
const json = async (words: string[] = [], shell: Shell = {}) => {
  const { code, out, err } = await run(['doctor', '--json', ...words], shell)
  expect(err).toBe('')
  return { code, ...JSON.parse(out) }
}
type Row = { check: string; level: string; what: string; todo: string | null }
const row = ({ findings }: { findings: Row[] }, name: string) => findings.filter(({ check }) => check === name)

test('a mailbox without clients is well, in a pipe and on a terminal', async () => {
  const { code, ok, findings, mendable, fixed, unfixed } = await json()
  expect({ code, ok, mendable, fixed, unfixed }).toEqual({ code: 0, ok: true, mendable: 0, fixed: [], unfixed: [] })
  for (const finding of findings) expect(Object.keys(finding)).toEqual(['check', 'level', 'what', 'todo', 'facts'])
  const plain = await run(['doctor'])
  expect(plain.out).toEndWith('\nall is well\n')
  expect(plain.out).not.toContain('\u001b')
  const coloured = await run(['doctor'], { outColumns: 100, errIsTerminal: true })
  expect(coloured.out).toContain('\u001b[32mok    \u001b[39m')
  expect(Bun.stripANSI(coloured.out).split('\n').length).toBe(plain.out.split('\n').length)
})

test('warnings alone exit with 0, a failure with 1, and what was mended is said', async () => {
  const warned = await json([], { env: { ...env(), XDG_CONFIG_HOME: 'relative' } })
  expect({ code: warned.code, ok: warned.ok }).toEqual({ code: 0, ok: true })
  expect(row(warned, 'folders')).toMatchObject([{ level: 'warn', todo: 'unset XDG_CONFIG_HOME' }])
  chmodSync(join(dataDir, 'operator.key'), 0o644)
  const { code, out } = await run(['doctor'])
  expect(code).toBe(1)
  expect(out).toContain(`      try: chmod 600 ${join(dataDir, 'operator.key')}\n`)
  expect(out).toEndWith(
    `1 failure\nmend 1 of them, and what comes to light then, with: mail4agent --data-dir ${dataDir} doctor --fix\n`,
  )
  const fixed = await run(['doctor', '--fix'])
  expect(fixed.code).toBe(0)
  expect(fixed.out).toEndWith(`fixed closed ${join(dataDir, 'operator.key')} to others (0600)\nall is well\n`)
  expect(statSync(join(dataDir, 'operator.key')).mode & 0o777).toBe(0o600)
})

test('a doorbell that fails is named with its reason', async () => {
  await run(['admin', 'account', 'add', 'codex'])
  const dead = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
  const url = `http://127.0.0.1:${dead.port}/bell`
  await dead.stop(true)
  await run(['admin', 'listener', 'set', 'codex', url])
  expect(row(await json(), 'door codex')).toMatchObject([
    { level: 'ok', what: expect.stringContaining('not rung yet') },
  ])
  await run(['send', 'codex', 'hello', '--as', 'operator'])
  let rows: Row[] = []
  for (let tries = 0; tries < 40 && rows[0]?.level !== 'warn'; tries++) rows = row(await json(), 'door codex')
  expect(rows).toMatchObject([
    { level: 'warn', what: expect.stringContaining(url), todo: expect.stringContaining('listener remove codex') },
  ])
})

test('mail that nobody reads for long is named with the account', async () => {
  await run(['admin', 'account', 'add', 'codex'])
  await run(['send', 'codex', 'hello', '--as', 'operator'])
  expect(row(await json(), 'unread')).toMatchObject([{ level: 'ok', what: '1 waits for agents that are not running' }])
  await daemon.stop()
  const db = new Database(join(dataDir, 'mail.sqlite'))
  db.run('UPDATE message SET created = created - 3 * 3600 * 1000')
  db.close()
  await start()
  expect(row(await json(), 'unread codex')).toMatchObject([
    { level: 'warn', what: '1 waits for codex, the oldest for 3 h, and no session of it runs' },
  ])
})
