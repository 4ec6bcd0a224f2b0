// The mailbox as a service: installed, watched, started again, given up with a reason, stopped and removed, as its unit says.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { lock } from '../../src/store/lock.ts'
import { ManagedMachine } from './support/service-manager.ts'

let machine: ManagedMachine

beforeEach(async () => {
  machine = await ManagedMachine.start()
})
afterEach(() => machine[Symbol.asyncDispose]())

const status = () => machine.json('service', 'status')
const restarted = (before: number) =>
  machine.until('another start', async () => {
    const now = await status()
    return now.active && now.pid !== before ? now : null
  })

/** A program that has a port of 127.0.0.1. */
async function taken(): Promise<{ port: number; free(): Promise<void> }> {
  const server = createServer((socket) => socket.destroy())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { port: address.port, free: () => new Promise((resolve) => server.close(() => resolve())) }
}

describe('under the unit', () => {
  test('is installed and ready, takes mail, is started again when it was killed, and goes without a trace', async () => {
    const before = readdirSync(machine.home)
    const installed = await machine.json('service', 'install')
    expect(installed).toMatchObject({
      code: 0,
      service: { name: 'mail4agent.service', active: true, state: 'active (running)', restarts: 0 },
    })
    expect(installed.service.reason).toStartWith('listens on 127.0.0.1:')
    const { pid } = installed.service
    expect(readFileSync(`/proc/${pid}/limits`, 'utf8')).toMatch(/Max open files +(65536|\d+)/)

    for (const name of ['claude', 'codex']) expect((await machine.json('admin', 'account', 'add', name)).code).toBe(0)
    const secret = 'the body of a letter'
    expect(await machine.json('send', 'codex', 'a subject', secret, '--as', 'claude')).toMatchObject({ code: 0 })
    process.kill(pid, 'SIGKILL')
    expect(await restarted(pid)).toMatchObject({ restarts: 1 })
    const { messages } = await machine.json('inbox', '--as', 'codex')
    expect(messages).toMatchObject([{ body: secret }])
    // again it is in place
    expect(await machine.json('service', 'install')).toMatchObject({ code: 0, service: { restarts: 1 } })

    const { lines } = await machine.json('service', 'logs', '-n', '100')
    for (const line of lines) expect(line).toMatch(/^time=\S+ level=(info|warn|error) msg=/)
    expect(lines.filter((line: string) => line.includes('msg=listening'))).toHaveLength(2)
    const tokens = readdirSync(join(machine.data, 'tokens')).map((name) =>
      readFileSync(join(machine.data, 'tokens', name), 'utf8').trim(),
    )
    for (const hidden of [...tokens, secret, 'a subject']) expect(lines.join('\n')).not.toContain(hidden)

    expect(await machine.json('service', 'stop')).toMatchObject({ code: 0, active: false, state: 'inactive (dead)' })
    expect(await status()).toMatchObject({ code: 1, installed: true, active: false })
    expect(await machine.json('service', 'start')).toMatchObject({ code: 0, active: true })
    expect(await machine.json('service', 'uninstall')).toMatchObject({ code: 0, removed: true })
    expect(await status()).toMatchObject({ code: 1, installed: false, active: false })
    expect(await machine.json('service', 'start')).toMatchObject({ code: 1, kind: 'service_failed' })
    expect(readdirSync(machine.home).sort()).toEqual([...before, '.config', '.local'].sort())
    expect(readdirSync(join(machine.home, '.config'))).toEqual([])
    expect(readdirSync(machine.data)).toContain('mail.sqlite')
  })

  test('what only a person can mend is not tried again, and said', async () => {
    await machine.json('service', 'install')
    await machine.json('service', 'stop')
    chmodSync(machine.data, 0o755)
    const refused = await machine.json('service', 'start')
    expect(refused).toMatchObject({ code: 1, kind: 'service_failed' })
    expect(refused.message).toContain('is open to other users')
    await Bun.sleep(3_000) // longer than RestartSec
    expect(await status()).toMatchObject({ active: false, state: 'failed (failed)', restarts: 0 })
    const { lines } = await machine.json('service', 'logs')
    expect(lines.at(-1)).toMatch(
      /level=error msg=".* is open to other users" kind=bad_permissions hint="close it: chmod 700 /,
    )
    chmodSync(machine.data, 0o700)
    expect(await machine.json('service', 'start')).toMatchObject({ code: 0, active: true })
  })

  test('what may pass is tried again, five times; then it stays down and says why, until it is started again', async () => {
    const other = await taken()
    expect(await machine.json('service', 'install', '--port', String(other.port))).toMatchObject({
      code: 1,
      kind: 'service_failed',
      message: expect.stringContaining(`port ${other.port} is held by process `),
    })
    // a failed installation leaves nothing
    expect(existsSync(machine.unit)).toBe(false)
    expect(readdirSync(machine.data).filter((name) => name === 'installed.json')).toEqual([])
    await other.free()
    expect(await machine.json('service', 'install', '--port', String(other.port))).toMatchObject({ code: 0 })
    // without a port of its own `up` leaves the one that was asked for
    const up = await machine.run(['env', '-u', 'M4A_PORT', ...ownServe().slice(0, 1), 'up', '--yes', '--json'])
    expect(JSON.parse(up.out)).toMatchObject({ daemon: 'runs already' })
    await machine.json('service', 'stop')
    const again = createServer((socket) => socket.destroy()).listen(other.port, '127.0.0.1')
    await machine.edit('RestartSec', '0.1')
    expect((await machine.json('service', 'start')).code).toBe(1)
    const ended = await machine.until('an end of it', async () => {
      const now = await status()
      return now.state === 'failed (failed)' ? now : null
    })
    expect(ended.reason).toContain(`port ${other.port} is held by process `)
    expect(ended.reason).toContain('start-limit-hit')
    await new Promise((resolve) => again.close(resolve))
    expect(await machine.json('service', 'start')).toMatchObject({ code: 0, active: true, restarts: 0 })
  })

  test('one that hangs is ended and started again by the watchdog', async () => {
    await machine.json('service', 'install')
    await machine.edit('TimeoutStopSec', '1')
    await machine.edit('WatchdogSec', '2')
    await machine.run(['systemctl', '--user', 'restart', 'mail4agent.service'])
    const { pid } = await status()
    await Bun.sleep(3_000) // it lives, and says so
    expect((await status()).pid).toBe(pid)
    process.kill(pid, 'SIGSTOP')
    expect(await restarted(pid)).toMatchObject({ active: true, restarts: 1 })
  })
})

describe('up and down', () => {
  test('use the service, change nothing again, and take it away', async () => {
    expect(await machine.json('up', '--dry-run')).toMatchObject({ code: 0, service: [{ path: machine.unit }, {}, {}] })
    expect(existsSync(machine.unit)).toBe(false)
    expect(await machine.json('up', '--yes')).toMatchObject({ code: 0, daemon: 'started as a service' })
    const { pid } = await status()
    expect(await machine.json('up', '--yes')).toMatchObject({ code: 0, daemon: 'runs already' })
    expect((await status()).pid).toBe(pid)
    // the unit of an earlier version
    await machine.edit('RestartSec', '7')
    expect(await machine.json('up', '--yes')).toMatchObject({ code: 0, daemon: 'started again as a service' })
    expect(readFileSync(machine.unit, 'utf8')).toContain('RestartSec=2')
    expect(await machine.json('down', '--yes')).toMatchObject({ code: 0, daemon: 'stopped, and the service removed' })
    expect(existsSync(machine.unit)).toBe(false)
    expect(await machine.json('down', '--purge', '--yes')).toMatchObject({ code: 0, purged: true })
    expect(existsSync(machine.data)).toBe(false)
  })

  test('one at a time: another is refused by name', async () => {
    expect(await machine.json('up', '--yes')).toMatchObject({ code: 0 })
    const held = lock(join(machine.data, 'install.lock'))
    for (const words of [['up'], ['down'], ['client', 'add', 'codex']])
      expect(await machine.json(...words, '--yes')).toMatchObject({ code: 1, kind: 'setup_running' })
    expect(await machine.json('service', 'install')).toMatchObject({ code: 1, kind: 'setup_running' })
    held.release()
    expect(await machine.json('down', '--yes')).toMatchObject({ code: 0 })
  })

  test('a mailbox in the background gives way to the service; one that somebody else started is named', async () => {
    expect(await machine.json('up', '--yes', '--no-service')).toMatchObject({ daemon: 'started in the background' })
    expect(await machine.json('service', 'install')).toMatchObject({ code: 0, service: { active: true } })
    expect(await machine.json('down', '--yes')).toMatchObject({ code: 0, daemon: 'stopped, and the service removed' })
    const own = Bun.spawn([...ownServe()], { env: machine.env, stdio: ['ignore', 'ignore', 'ignore'] })
    await machine.until('a mailbox', async () => (await machine.m4a('status')).out !== '')
    expect(await machine.json('service', 'install')).toMatchObject({ code: 1, kind: 'already_running', pid: own.pid })
    own.kill('SIGTERM')
    expect(await own.exited).toBe(0)
  })
})

test('launchd, which starts again whatever does not end with 0, is told when that changes nothing', async () => {
  const serve = (...words: string[]) => machine.run([...ownServe(), '--service', 'launchd', ...words])
  mkdirSync(machine.data, { recursive: true, mode: 0o755 })
  expect(await serve()).toMatchObject({
    code: 0,
    out: '',
    err: expect.stringMatching(/^time=.* level=error .*chmod 700/),
  })
  chmodSync(machine.data, 0o700)
  const other = await taken()
  const port = ['--port', String(other.port)]
  const once = () => machine.run([...ownServe().slice(0, 2), ...port, '--service', 'launchd'])
  for (let times = 0; times < 4; times++) expect(await once()).toMatchObject({ code: 1 })
  expect(await once()).toMatchObject({
    code: 0,
    err: expect.stringContaining('msg="not started again" reason="started 6'),
  })
  expect(await once()).toMatchObject({ code: 1 })
  await other.free()
})

test('readiness is told in the abstract name space too', async () => {
  const name = `@m4a-test-${process.pid}`
  const listen = `import socket,sys
s=socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM);s.bind('\\0'+sys.argv[1][1:]);print(flush=True)
while True: print(s.recv(4096).decode(),flush=True)`
  const listener = Bun.spawn(['python3', '-c', listen, name], { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = listener.stdout.getReader()
  await lines.read()
  const env = { ...machine.env, NOTIFY_SOCKET: name }
  const daemon = Bun.spawn([...ownServe(), '--service', 'systemd'], { env, stdio: ['ignore', 'ignore', 'ignore'] })
  const { value } = await lines.read()
  expect(new TextDecoder().decode(value)).toStartWith('READY=1\nSTATUS=listens on 127.0.0.1:')
  daemon.kill('SIGTERM')
  expect(await daemon.exited).toBe(0)
  listener.kill()
  await listener.exited
})

test('without a service manager it says what to do', async () => {
  await machine[Symbol.asyncDispose]()
  machine = new ManagedMachine()
  const env = { HOME: machine.root, PATH: '/usr/bin:/bin', XDG_RUNTIME_DIR: machine.root }
  const child = Bun.spawn([...ownServe().slice(0, 1), 'service', 'install'], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  expect(await new Response(child.stderr).text()).toMatch(
    /^refused: no service manager answers here: .*\ntry: run it in the background: mail4agent up --no-service/,
  )
  expect(await child.exited).toBe(1)
})

const ownServe = (): [string, ...string[]] => [
  join(import.meta.dir, '..', '..', 'dist', 'mail4agent'),
  'serve',
  '--port',
  '0',
]
