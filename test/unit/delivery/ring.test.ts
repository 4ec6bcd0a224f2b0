// One ring against real listeners on loopback: what is sent, what counts as rung, and what a bad listener cannot do.
import { afterEach, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { createServer, type Server, type Socket } from 'node:net'
import { type Rung, ring, signature } from '../../../src/delivery/ring.ts'
import { targetOf } from '../../../src/delivery/target.ts'

const open: Server[] = []
const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const server of open.splice(0)) server.close()
})

/** A listener that gives each connection to `talk` once the whole request is there. */
async function listener(talk: (socket: Socket, request: string) => void): Promise<number> {
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    let seen = ''
    socket.on('data', (bytes) => {
      seen += bytes.toString()
      if (seen.endsWith('}')) talk(socket, seen)
    })
  })
  open.push(server)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}

const BODY = '{"account":"a"}'
const patience = { connectMs: 200, totalMs: 400 }
const never = new AbortController().signal
const dial = (port: number, path = '/', signal = never) =>
  ring(targetOf(`http://localhost:${port}${path}`, 1), 'key', BODY, patience, signal)
const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'

test('a ring is a POST with the exact body and its HMAC-SHA-256', async () => {
  let seen = ''
  const port = await listener((socket, request) => {
    seen = request
    socket.end(ok)
  })
  expect(await dial(port, '/bell?x=1#part')).toEqual({ ok: true })
  const [head = '', body] = seen.split('\r\n\r\n')
  expect(head.split('\r\n')[0]).toBe('POST /bell?x=1 HTTP/1.1')
  expect(head).toContain(`\r\nHost: localhost:${port}\r\n`)
  expect(head).toContain('\r\nContent-Type: application/json\r\n')
  expect(head).toContain(`\r\nX-M4A-Signature: sha256=${createHmac('sha256', 'key').update(BODY).digest('hex')}\r\n`)
  expect(body).toBe(BODY)
})

test('the signature is the known one', () => {
  expect(signature('key', 'The quick brown fox jumps over the lazy dog')).toBe(
    'sha256=f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8',
  )
})

const answers: [string, Rung][] = [
  ['HTTP/1.1 204 No Content\r\n\r\n', { ok: true }],
  ['HTTP/1.0 200\r\n\r\n', { ok: true }],
  ['HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 202 Accepted\r\n\r\n', { ok: true }],
  ['HTTP/1.1 500 No\r\n\r\n', { ok: false, error: 'answered 500' }],
  ['HTTP/1.1 302 Found\r\nLocation: http://192.0.2.1/\r\n\r\n', { ok: false, error: 'answered 302' }],
  ['SSH-2.0-OpenSSH_9\r\n', { ok: false, error: 'no HTTP answer' }],
  ['HTTP/1.1 200', { ok: false, error: 'closed without an answer' }],
  ['', { ok: false, error: 'closed without an answer' }],
]
for (const [answer, expected] of answers)
  test(`an answer ${JSON.stringify(answer.slice(0, 30))} is ${expected.ok ? 'a success' : expected.error}`, async () => {
    const port = await listener((socket) => socket.end(answer))
    expect(await dial(port)).toEqual(expected)
  })

test('a status that comes in single bytes is understood', async () => {
  const port = await listener((socket) => {
    socket.setNoDelay(true)
    const bytes = [...ok]
    const next = () => {
      const byte = bytes.shift()
      if (byte === undefined) socket.end()
      else socket.write(byte, () => setImmediate(next))
    }
    next()
  })
  expect(await dial(port)).toEqual({ ok: true })
})

test('a redirect is not followed', async () => {
  let followed = 0
  const other = await listener((socket) => {
    followed++
    socket.end(ok)
  })
  const port = await listener((socket) =>
    socket.end(`HTTP/1.1 307 T\r\nLocation: http://127.0.0.1:${other}/\r\nContent-Length: 0\r\n\r\n`),
  )
  expect(await dial(port)).toEqual({ ok: false, error: 'answered 307' })
  expect(followed).toBe(0)
})

test('proxy variables are not read', async () => {
  let proxied = 0
  const proxy = await listener((socket) => {
    proxied++
    socket.end(ok)
  })
  const names = ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY']
  for (const name of names) process.env[name] = `http://127.0.0.1:${proxy}`
  try {
    const port = await listener((socket) => socket.end(ok))
    expect(await dial(port)).toEqual({ ok: true })
    expect(proxied).toBe(0)
  } finally {
    for (const name of names) delete process.env[name]
  }
})

test('nobody there, a silent one and a dripping one end in time', async () => {
  const silent = await listener(() => {})
  const dripping = await listener((socket) => {
    socket.write('HTTP/1.1 ')
    const drip = setInterval(() => socket.write('1'), 20)
    socket.on('close', () => clearInterval(drip))
  })
  const gone = await listener(() => {})
  const closed = open.pop()
  await new Promise((done) => closed?.close(done))
  const start = performance.now()
  const rings = await Promise.all([dial(gone), dial(silent), dial(dripping)])
  expect(rings.map((one) => one.ok)).toEqual([false, false, false])
  expect(rings[0]).toEqual({ ok: false, error: 'ECONNREFUSED' })
  expect(rings[1]).toEqual({ ok: false, error: 'no answer in time' })
  expect(performance.now() - start).toBeLessThan(1_500)
})

test('headers without end are no answer; a body without end is cut off', async () => {
  const flood = (first: string) => (socket: Socket) => {
    socket.write(first)
    const pour = () => {
      while (!socket.destroyed && socket.write('x'.repeat(65_536)));
    }
    socket.on('drain', pour)
    pour()
  }
  expect(await dial(await listener(flood('HTTP/1.1 ')))).toEqual({ ok: false, error: 'no HTTP answer' })
  const ended = Promise.withResolvers<void>()
  const port = await listener((socket) => {
    socket.on('close', () => ended.resolve())
    flood('HTTP/1.1 200 OK\r\n\r\n')(socket)
  })
  expect(await dial(port)).toEqual({ ok: true })
  const settled = performance.now()
  await ended.promise
  expect(performance.now() - settled).toBeLessThan(150)
})

test('an abort ends a ring at once, and one that had not begun', async () => {
  const port = await listener(() => {})
  const stop = new AbortController()
  const rung = dial(port, '/', stop.signal)
  setTimeout(() => stop.abort(), 20)
  expect(await rung).toEqual({ ok: false, error: 'shutting down' })
  expect(await dial(port, '/', stop.signal)).toEqual({ ok: false, error: 'shutting down' })
})

const outside = [
  'http://127.0.0.1@192.0.2.1/',
  'http://127.0.0.1:80@192.0.2.1/',
  'http://localhost.evil.example/',
  'http://127.0.0.1.evil.example/',
  'http://localhost\\@192.0.2.1/',
  'http://127.1/',
  'http://0x7f000001/',
  'http://2130706433/',
  'http://[::1]/',
  'http://0.0.0.0/',
  'http://127.0.0.2/',
  'https://127.0.0.1/',
  'HTTP://127.0.0.1/',
  'ftp://127.0.0.1/',
  'http://127.0.0.1:0/',
  'http://127.0.0.1:65536/',
  'http://127.0.0.1:18301/',
  'http://127.0.0.1:9/\r\nX: y',
  '//127.0.0.1/',
]
for (const url of outside)
  test(`${JSON.stringify(url)} is never dialled`, () => {
    expect(() => targetOf(url, 18_301)).toThrow()
  })

test('only the literal address is dialled, with the path encoded', () => {
  expect(targetOf('http://LOCALHOST:9/a b'.replace(' ', '%20'), 1)).toEqual({
    port: 9,
    path: '/a%20b',
    host: 'localhost:9',
  })
  expect(targetOf('http://127.0.0.1', 1)).toEqual({ port: 80, path: '/', host: '127.0.0.1' })
  expect(targetOf('http://127.0.0.1:9?q=é', 1).path).toBe('/?q=%C3%A9')
})
