// The Unix socket door: who may find it, what it replaces, and that streams, big bodies and leaving clients work on it.
import { afterEach, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { openAttestor } from '../../../src/attest/attestor.ts'
import { MailClient } from '../../../src/client/client.ts'
import type { Serve } from '../../../src/door/listen.ts'
import { listenOnSocket, type SocketDoor } from '../../../src/door/socket.ts'
import { LIMITS } from '../../../src/wire/limits.ts'
import { folder, refusalOf, silent } from './support.ts'

const attestor = openAttestor()
const doors: SocketDoor[] = []
afterEach(async () => {
  for (const door of doors.splice(0)) await door.stop(0)
})

const open = async (path: string, serve: Serve = () => Response.json({ ok: true, service: 'mail4agent' })) => {
  const door = await listenOnSocket(path, attestor, serve, silent)
  doors.push(door)
  return door
}
const clientOf = (socket: string) => new MailClient({ socket, token: 'none' })

/** What comes back for raw text, until the other end closes or `ms` have passed. */
function raw(path: string, text: string, ms = 200): Promise<string> {
  return new Promise((resolve) => {
    let seen = ''
    const socket = connect(path, () => socket.write(text))
    socket.on('data', (data) => {
      seen += data
    })
    setTimeout(() => {
      socket.destroy()
      resolve(seen)
    }, ms)
  })
}

test('the socket is 0600 in a folder of 0700, which is made', async () => {
  using place = folder()
  const path = join(place.path, 'run', 'm4a.sock')
  await open(path)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(statSync(join(place.path, 'run')).mode & 0o777).toBe(0o700)
  expect(await clientOf(path).health()).toMatchObject({ ok: true })
})

test('a folder that others can enter is refused, at both ends', async () => {
  using place = folder()
  const path = join(place.path, 'open', 'm4a.sock')
  mkdirSync(join(place.path, 'open'), { mode: 0o755 })
  chmodSync(join(place.path, 'open'), 0o755)
  expect((await refusalOf(open(path))).kind).toBe('bad_permissions')
  const other = Bun.serve({ unix: path, fetch: () => new Response('a trap') })
  expect((await refusalOf(clientOf(path).call('whoami', {}))).kind).toBe('bad_permissions')
  await other.stop(true)
})

test('a socket that a dead daemon left is replaced, one that answers is not', async () => {
  using place = folder()
  const path = join(place.path, 'm4a.sock')
  const script = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`
  await Bun.spawn([process.execPath, '-e', script], { stdout: 'ignore', stderr: 'ignore' }).exited
  expect(existsSync(path)).toBe(true)
  await open(path)
  expect(await clientOf(path).health()).toMatchObject({ ok: true })
  expect((await refusalOf(open(path))).toJSON()).toMatchObject({ kind: 'port_taken', path })
  expect(await clientOf(path).health()).toMatchObject({ ok: true })
})

test('a file that is no socket stays', async () => {
  using place = folder()
  const path = join(place.path, 'm4a.sock')
  writeFileSync(path, 'precious')
  expect((await refusalOf(open(path))).kind).toBe('port_taken')
  expect(await Bun.file(path).text()).toBe('precious')
})

test('a path that is too long is refused by name', async () => {
  using place = folder()
  expect((await refusalOf(open(join(place.path, 'x'.repeat(120))))).kind).toBe('usage')
})

test('bodies arrive whole; one over the limit is not kept, and the connection goes on', async () => {
  using place = folder()
  const path = join(place.path, 'm4a.sock')
  const seen: number[] = []
  await open(path, async (request) => {
    seen.push(Number(request.headers.get('content-length')))
    return Response.json({ bytes: (await request.bytes()).length })
  })
  const client = clientOf(path)
  expect(await client.mcp('x'.repeat(900_000))).toMatchObject({ text: '{"bytes":900000}' })
  expect(await client.mcp('x'.repeat(LIMITS.request + 5))).toMatchObject({ text: '{"bytes":0}' })
  expect(await client.mcp('abc')).toMatchObject({ text: '{"bytes":3}' })
  expect(seen).toEqual([900_000, LIMITS.request + 5, 3])
  client.close()
})

test('the signal aborts when the client leaves, and only then', async () => {
  using place = folder()
  const path = join(place.path, 'm4a.sock')
  const ends: string[] = []
  await open(path, async (request) => {
    const path = new URL(request.url).pathname
    request.signal.addEventListener('abort', () => ends.push(`${path} aborted`))
    if (path === '/health') return Response.json({ service: 'mail4agent' })
    await new Promise((resolve) => request.signal.addEventListener('abort', resolve))
    return new Response()
  })
  const client = clientOf(path)
  await client.health()
  const gone = new AbortController()
  const parked = client.call('inbox', { wait_secs: 30 }, { signal: gone.signal }).catch((error) => error)
  await Bun.sleep(50)
  gone.abort()
  expect(await parked).toBe(gone.signal.reason)
  await Bun.sleep(50)
  expect(ends).toEqual(['/mail/inbox aborted'])
  client.close()
})

test('pipelined requests, a star and a whole URL as target', async () => {
  using place = folder()
  const path = join(place.path, 'm4a.sock')
  const urls: string[] = []
  await open(path, (request) => {
    urls.push(new URL(request.url).pathname)
    return new Response('.')
  })
  const get = (target: string, method = 'GET') => `${method} ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`
  const seen = await raw(path, get('/1') + get('http://evil.example/2') + get('*', 'OPTIONS'))
  expect(seen.match(/HTTP\/1.1 200/g)).toHaveLength(3)
  expect(urls).toEqual(['/1', '/2', '/'])
})

test('garbage closes that connection and no other', async () => {
  using place = folder()
  const path = join(place.path, 'm4a.sock')
  await open(path)
  await raw(path, '\0\0 not http\r\n\r\n')
  expect(await clientOf(path).health()).toMatchObject({ ok: true })
})
