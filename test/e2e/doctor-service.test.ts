// The doctor where a service manager runs the mailbox: how it fares there, and why it does not run.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { chmodSync, rmSync } from 'node:fs'
import { BINARY } from './support/mailbox.ts'
import { ManagedMachine } from './support/service-manager.ts'

let machine: ManagedMachine
beforeEach(async () => {
  machine = await ManagedMachine.start()
  await machine.json('service', 'install')
})
afterEach(() => machine[Symbol.asyncDispose]())

type Finding = { check: string; level: string; what: string; todo: string | null }
const findings = async (): Promise<Finding[]> => (await machine.json('doctor')).findings
const about = async (check: string) => (await findings()).find((one) => one.check === check)

test('one that runs is fine, with the page and a person’s notifications on; how often it was started again is said', async () => {
  expect(await machine.json('admin', 'account', 'add', 'pat')).toMatchObject({ code: 0 })
  expect(await machine.json('admin', 'account', 'set', 'pat', '--kind', 'person')).toMatchObject({ code: 0 })
  expect(await machine.json('notify', 'on', '--as', 'pat')).toMatchObject({ code: 0 })
  const { out } = await machine.m4a('ui', '--as', 'pat')
  expect(out).toContain('/ui#login=')
  const found = await findings()
  expect(found.filter(({ level }) => level === 'fail')).toEqual([])
  expect(found.find(({ check }) => check === 'service')).toMatchObject({ level: 'ok', what: 'installed and active' })
  const { pid } = await machine.json('service', 'status')
  process.kill(pid, 'SIGKILL')
  await machine.until('another start', async () => {
    const now = await machine.json('service', 'status')
    return now.active && now.pid !== pid
  })
  expect(await about('service')).toMatchObject({ level: 'ok', what: 'installed and active, started again 1 time' })
})

test('one that does not run: stopped, failed with its reason, replaced by hand, removed', async () => {
  await machine.json('service', 'stop')
  expect(await about('service')).toMatchObject({ level: 'ok', what: 'installed, not active' })

  chmodSync(machine.data, 0o755)
  await machine.json('service', 'start')
  expect(await about('service')).toMatchObject({
    level: 'warn',
    what: expect.stringMatching(/^mail4agent\.service is failed \(failed\): .* is open to other users/),
    todo: expect.stringContaining('service start'),
  })
  chmodSync(machine.data, 0o700)

  const hand = Bun.spawn([BINARY, 'serve', '--port', '0'], { env: machine.env, stdio: ['ignore', 'pipe', 'inherit'] })
  await machine.until('a mailbox', async () => (await machine.m4a('status')).code === 0)
  expect(await about('service')).toMatchObject({ level: 'warn', what: expect.stringContaining('started by hand') })
  hand.kill('SIGTERM')
  await hand.exited

  await machine.edit('RestartSec', '9')
  await machine.json('service', 'start')
  expect(await about('service')).toMatchObject({
    level: 'warn',
    what: expect.stringContaining(`is not what was installed: ${machine.unit}`),
  })

  await machine.run(['systemctl', '--user', 'disable', '--now', 'mail4agent.service'])
  rmSync(machine.unit)
  expect(await about('service')).toMatchObject({
    level: 'warn',
    what: 'mail4agent.service was installed, and somebody has removed it',
    todo: expect.stringMatching(/ up$/),
  })
})
