// Whose process listens on a Unix socket that we have connected to.
import { afterEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { peerUid } from '../../../src/attest/peer-uid.ts'
import { cleanUp, onLinux } from './support.ts'

const all = cleanUp()
afterEach(() => all.run())

const descriptor = (socket: Socket): number => Number(Reflect.get(Reflect.get(socket, '_handle'), 'fd'))

async function connected(where: { path: string } | { port: number; host: string }): Promise<number> {
  const server = createServer()
  await new Promise<void>((done) => server.listen(where, done))
  const address = server.address()
  const socket = connect(typeof address === 'object' && address !== null ? { ...where, port: address.port } : where)
  await new Promise<void>((done) => socket.once('connect', done))
  all.after(() => {
    socket.destroy()
    server.close()
  })
  return descriptor(socket)
}

test.if(onLinux)('is ours where we listen ourselves', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'm4a-uid-'))
  all.after(() => rmSync(folder, { recursive: true }))
  const fd = await connected({ path: join(folder, 'door.sock') })
  for (let times = 0; times < 3; times++) expect(peerUid(fd)).toBe(process.geteuid?.() ?? -1)
})

test.if(onLinux)('is nobody where there is no Unix socket', async () => {
  expect(peerUid(-1)).toBe(-1)
  expect(peerUid(await connected({ host: '127.0.0.1', port: 0 }))).toBe(-1)
})

test('a platform that cannot be asked says so', () => {
  expect(peerUid(-1)).toBe(onLinux ? -1 : null)
})
