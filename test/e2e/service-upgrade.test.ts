// A mailbox under a service manager, upgraded: stopped and started by its manager, its unit as it was, and back when it fails.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { VERSION } from '../../src/door/version.ts'
import { BINARY } from './support/mailbox.ts'
import { ManagedMachine } from './support/service-manager.ts'
import { buildVariant } from './support/variant.ts'

const folder = mkdtempSync(join(tmpdir(), 'm4a-service-upgrade-'))
chmodSync(folder, 0o755)
let newer: string
let broken: string
beforeAll(() => {
  newer = buildVariant(folder, { version: '0.2.0', schema: 1 })
  broken = buildVariant(folder, { version: '0.3.0', schema: 1, broken: true })
}, 300_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let machine: ManagedMachine
let program: string
beforeEach(async () => {
  machine = await ManagedMachine.start()
  mkdirSync(join(machine.home, 'bin'))
  program = join(machine.home, 'bin', 'mail4agent')
  copyFileSync(BINARY, program)
  await run('service', 'install')
  // what a person changed of the unit is his
  await machine.edit('TimeoutStopSec', '17')
})
afterEach(() => machine[Symbol.asyncDispose]())

const run = async (...words: string[]) => {
  const { code, out, err } = await machine.run([program, ...words, '--json'])
  return { code, ...JSON.parse(out || (err.split('\n').find((line) => line.startsWith('{')) ?? '{}')) }
}
const status = () => run('service', 'status')
const health = async () => {
  const { port } = JSON.parse(readFileSync(join(machine.data, 'daemon.json'), 'utf8'))
  return (await fetch(`http://127.0.0.1:${port}/health`)).json()
}

test('is stopped and started, its unit untouched, the mail still there', async () => {
  const [before, unit] = [await status(), readFileSync(machine.unit, 'utf8')]
  for (const name of ['claude', 'codex']) await run('admin', 'account', 'add', name)
  await run('send', 'codex', 'kept', 'over the upgrade', '--as', 'claude')
  expect(await run('upgrade', '--from', newer)).toMatchObject({ code: 0, after: '0.2.0', restart: 'service' })
  expect(readFileSync(machine.unit, 'utf8')).toBe(unit)
  const after = await status()
  expect(after).toMatchObject({ active: true, restarts: 0 })
  expect(after.pid).not.toBe(before.pid)
  expect(await health()).toMatchObject({ ok: true, version: '0.2.0' })
  expect((await run('inbox', '--as', 'codex')).messages).toMatchObject([{ subject: 'kept' }])
}, 60_000)

test('one that does not come up is stopped, taken back with its store, and the old one runs', async () => {
  const unit = readFileSync(machine.unit, 'utf8')
  const failed = await run('upgrade', '--from', broken)
  expect(failed).toMatchObject({ code: 1, kind: 'upgrade_failed' })
  expect(failed.message).toContain(`${VERSION} is back in its place and runs`)
  expect(readFileSync(machine.unit, 'utf8')).toBe(unit)
  expect(await health()).toMatchObject({ ok: true, version: VERSION })
  await Bun.sleep(3_000) // longer than RestartSec: nothing of the failed one is left to be started again
  expect(await status()).toMatchObject({ active: true, restarts: 0 })
}, 60_000)

test('one whose unit somebody has removed is installed again', async () => {
  await machine.run(['systemctl', '--user', 'disable', '--now', 'mail4agent.service'])
  rmSync(machine.unit)
  expect(await run('upgrade', '--from', newer)).toMatchObject({ code: 0, restart: 'service' })
  expect(await status()).toMatchObject({ active: true })
}, 60_000)
