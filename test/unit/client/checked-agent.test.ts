// No byte goes to a Unix socket on which another user listens.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { request } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { CheckedAgent } from '../../../src/client/checked-agent.ts'
import { folder } from '../door/support.ts'

const place = folder()
const socketPath = join(place.path, 'door.sock')
let received = 0
const server = createServer((socket) => {
  socket.on('error', () => {})
  socket.on('data', (data) => {
    received += data.length
    socket.write('HTTP/1.1 204 No Content\r\n\r\n')
  })
})
beforeAll(() => new Promise<void>((done) => server.listen(socketPath, done)))
afterAll(() => {
  server.close()
  place[Symbol.dispose]()
})

/** How a request ends where the kernel says `uid`, and how many bytes the other end got. */
async function ask(uid: number | null, path = socketPath): Promise<[unknown, boolean]> {
  const agent = new CheckedAgent({ keepAlive: true }, () => uid)
  const before = received
  const end = await new Promise((done) => {
    const outgoing = request({ socketPath: path, agent, headers: { authorization: 'Bearer secret' } })
    outgoing.on('response', (answer) => done(answer.statusCode))
    outgoing.on('error', (error) => done('kind' in error ? error.kind : Reflect.get(error, 'code')))
    outgoing.end()
  })
  agent.destroy()
  await Bun.sleep(10)
  return [end, received > before]
}

const us = process.getuid?.() ?? 0

test('the own user is written to, and who cannot be asked about', async () => {
  expect(await ask(us)).toEqual([204, true])
  expect(await ask(null)).toEqual([204, true])
})

test.each([us + 1, -1])('user %d gets nothing', async (uid) => {
  expect(await ask(uid)).toEqual(['bad_permissions', false])
})

test('nobody listens there', async () => {
  expect(await ask(us, join(place.path, 'none.sock'))).toEqual(['ENOENT', false])
})
