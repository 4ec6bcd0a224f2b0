// stop, start, restart: the mailbox in the background, without any service manager; and what says how to stop it.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { CliWorld } from './support/cli-world.ts'

setDefaultTimeout(60_000)

let world: CliWorld
beforeEach(() => {
  world = new CliWorld()
})
afterEach(async () => {
  await world.run(['down', '--yes'])
  await world[Symbol.asyncDispose]()
})

/** A port that listens and never answers; `port` is its number. */
async function silentPort(): Promise<Server & { port: number }> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return Object.assign(server, { port: typeof address === 'object' && address !== null ? address.port : 0 })
}

const up = ['up', '--yes', '--no-service', '--only', 'codex']

test('in the background: stopped, restored, started again where it was, restarted', async () => {
  expect(await world.json<object>([...up, '--port', '0'])).toMatchObject({ daemon: 'started in the background' })
  await world.run(['admin', 'backup', join(world.home, 'copy')])
  const refused = await world.run(['admin', 'restore', join(world.home, 'copy')])
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('try: stop it first: mail4agent stop') })
  const base = (await world.json<{ listening: string[] }>(['status'])).listening
  expect(await world.json<object>(['stop'])).toEqual({ state: 'stopped' })
  expect(await world.json<object>(['stop'])).toEqual({ state: 'not running' })
  const restored = await world.run(['admin', 'restore', join(world.home, 'copy')])
  expect(restored).toMatchObject({ code: 0, out: expect.stringContaining('next: mail4agent start\n') })
  expect(await world.json<object>(['start'])).toEqual({ state: 'started in the background' })
  expect(await world.json<object>(['start'])).toEqual({ state: 'runs already' })
  expect((await world.json<{ listening: string[] }>(['status'])).listening).toEqual(base)
  expect(await world.json<object>(['restart'])).toEqual({ state: 'started in the background' })
  expect((await world.run(['inbox'])).code).toBe(0)
  // a manager that is not there, or has no such service, is not asked
  expect((await world.run(['service', 'logs'])).out).toContain('listens on')
  expect((await world.run(['service', 'stop'])).code).toBe(0)
  expect((await world.run(['service', 'start'])).code).toBe(0)
  expect(await world.run(['down', '--yes'])).toMatchObject({ out: expect.stringContaining('the mailbox: stopped') })
})

test('one that runs in a terminal is stopped too; without any, service logs is refused', async () => {
  expect(await world.json<object>(['stop'])).toEqual({ state: 'not running' })
  expect(existsSync(world.dataDir)).toBe(false)
  await world.serve()
  expect(await world.json<object>(['stop'])).toEqual({ state: 'stopped' })
  const { code, out } = await world.run(['service', 'logs'])
  expect({ isRefused: code !== 0, out }).toEqual({ isRefused: true, out: '' })
})

test('a port that is taken: at once, by the name of who holds it; a foreign server is no mailbox to be started', async () => {
  const other = await silentPort()
  try {
    const began = performance.now()
    const { code, err } = await world.run([...up, '--port', String(other.port)])
    expect(performance.now() - began).toBeLessThan(3_000)
    expect(code).toBe(1)
    expect(err).toContain(`refused: port ${other.port} is held by process ${process.pid} (`)
    expect(err).toContain('try: use another one: --port')
    const found = (await world.run(['doctor', '--port', String(other.port)])).out
    expect(found).toContain(`port ${other.port} is held by process ${process.pid} (`)
  } finally {
    other.close()
  }
  const web = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('hello') })
  const ssh = createServer((socket) => void socket.end('SSH-2.0-OpenSSH_9.2\r\n'))
  await new Promise<void>((resolve) => ssh.listen(0, '127.0.0.1', resolve))
  const address = ssh.address()
  writeFileSync(join(world.home, 'token'), 'x', { mode: 0o600 })
  try {
    for (const port of [web.port, typeof address === 'object' ? address?.port : 0]) {
      const env = { M4A_TOKEN_FILE: join(world.home, 'token') }
      const { code, err } = await world.run(['inbox', '--port', String(port)], { env })
      expect({ code, hint: err.split('\n').at(-2) }).toEqual({
        code: 3,
        hint: expect.stringContaining('another program holds that port'),
      })
    }
  } finally {
    await web.stop(true)
    ssh.close()
  }
})
