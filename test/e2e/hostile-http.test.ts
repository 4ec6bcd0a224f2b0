// Requests that mean harm or are garbage, at the TCP door and the Unix socket: refused by name, nothing stored, the daemon lives.
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { Caller, fresh, storedMessages } from './support/caller.ts'
import { Mailbox } from './support/mailbox.ts'
import { exchange, isWhole, Raw } from './support/raw.ts'

setDefaultTimeout(30_000)

let mailbox: Mailbox
let ann: Caller
let stored: number
beforeAll(async () => {
  mailbox = await Mailbox.start()
  ann = await Caller.make(mailbox, fresh('ann'))
  stored = await storedMessages(mailbox)
})
afterAll(() => mailbox[Symbol.asyncDispose]())

/** After every attack: the same daemon answers, and it has stored nothing. */
afterEach(async () => {
  expect(mailbox.daemon.exitCode).toBeNull()
  expect((await ann.ask('whoami')).account).toBe(ann.id)
  expect(await storedMessages(mailbox)).toBe(stored)
})

const letter = () => JSON.stringify({ to: ann.id, subject: 's', body: 'b' })
type Parts = {
  method?: string
  path?: string
  version?: string
  headers?: Record<string, string | null>
  body?: string
}

/** One request as text; a header that is null is left out. */
function request({ method = 'POST', path = '/mail/send', version = '1.1', headers = {}, body = letter() }: Parts = {}) {
  const all: Record<string, string | null> = {
    Host: `127.0.0.1:${mailbox.port}`,
    Authorization: `Bearer ${ann.token}`,
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    ...headers,
  }
  const lines = Object.entries(all).flatMap(([name, value]) => (value === null ? [] : [`${name}: ${value}`]))
  return `${method} ${path} HTTP/${version}\r\n${lines.join('\r\n')}\r\n\r\n${body}`
}
const chunked = (...parts: string[]) =>
  request({ headers: { 'Content-Length': null, 'Transfer-Encoding': 'chunked' }, body: parts.join('') })

const TARGETS = {
  tcp: () => ({ port: mailbox.port }),
  ipv6: () => ({ port: mailbox.port, host: '::1' }),
  socket: () => ({ path: mailbox.socket }),
}

describe.each(Object.keys(TARGETS) as (keyof typeof TARGETS)[])('%s', (name) => {
  const send = (bytes: string | Uint8Array) => exchange(TARGETS[name](), bytes)
  const refused = async (parts: Parts, status: number, kind: string) => {
    const answer = await send(request(parts))
    expect([parts, answer.status, answer.kind]).toEqual([parts, status, kind])
    return answer
  }

  test('a host that is not this loopback: DNS rebinding and its spellings', async () => {
    for (const Host of [
      'evil.example',
      `evil.example:${mailbox.port}`,
      `localhost.evil.example:${mailbox.port}`,
      `127.0.0.1.evil.example:${mailbox.port}`,
      `127.0.0.1:${mailbox.port}@evil.example`,
      `evil.example@127.0.0.1:${mailbox.port}`,
      `127.0.0.1:${mailbox.port}/x`,
      `127.0.0.1:${mailbox.port},evil.example`,
      '127.1',
      '0x7f000001',
      '2130706433',
      '0.0.0.0',
      '[::]',
      '[::ffff:127.0.0.1]',
      '192.168.0.1',
      'localhost:99999999',
      `localhost.:${mailbox.port}`,
    ])
      await refused({ headers: { Host } }, 403, 'bad_host')
    for (const path of ['/health', '/openapi.json', '/mcp', '/admin/room', '/no/such/route'])
      for (const method of ['GET', 'POST'])
        await refused({ method, path, headers: { Host: 'evil.example' } }, 403, 'bad_host')
  })

  test('an origin that is not the mailbox itself', async () => {
    for (const Origin of [
      'null',
      'https://evil.example',
      `http://evil.example:${mailbox.port}`,
      `https://127.0.0.1:${mailbox.port}`,
      `http://127.0.0.1:${mailbox.port + 1}`,
      'http://127.0.0.1',
      `http://127.0.0.1:${mailbox.port}.evil.example`,
      `http://localhost:${mailbox.port}@evil.example`,
      'file://',
      'chrome-extension://abc',
      '',
    ])
      for (const path of ['/mail/send', '/mcp', '/admin/room', '/health'])
        await refused({ method: path === '/health' ? 'GET' : 'POST', path, headers: { Origin } }, 403, 'bad_origin')
  })

  test('a web page’s simple requests: no preflight passes, no text is taken for JSON', async () => {
    for (const type of [
      'text/plain',
      'text/plain; application/json',
      'multipart/form-data; boundary=x',
      'application/jsonp',
      'application/json-patch+json',
      'application',
      '',
      null,
    ])
      await refused({ headers: { 'Content-Type': type } }, 415, 'unsupported_media_type')
    const preflight = {
      Origin: 'https://evil.example',
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'authorization,content-type',
    }
    const answer = await send(request({ method: 'OPTIONS', headers: preflight, body: '' }))
    expect([answer.status, answer.kind]).toEqual([403, 'bad_origin'])
    expect(answer.text.toLowerCase()).not.toContain('access-control-allow')
    const own = await send(request({ method: 'OPTIONS', body: '' }))
    expect([own.status, own.text.toLowerCase().includes('access-control-allow')]).toEqual([405, false])
  })

  test('methods and paths that are none', async () => {
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH'])
      await refused({ method, body: method === 'GET' ? '' : letter() }, 405, 'method_not_allowed')
    for (const path of [
      '/',
      '/mail',
      '/mail/',
      '/mail/send/',
      '/MAIL/SEND',
      '/mail/none',
      '/mail/__proto__',
      '/mail/constructor',
      '//mail/send',
      '/admin',
      '/.well-known/oauth-authorization-server',
      '/%6dail/send/x',
      `/${'a'.repeat(4_000)}`,
    ])
      await refused({ path }, 404, 'not_found')
    for (const path of ['/mail/../../etc/passwd', '/..%2f..%2foperator.key', '/mail/%2e%2e/operator.key'])
      expect((await send(request({ method: 'GET', path, body: '' }))).status).toBeGreaterThanOrEqual(400)
  })

  test('bodies that are not what they say', async () => {
    for (const body of ['', ' ', '{', '{}{}', '[', 'null,', '{"to":}', "{'to':1}", '\ufeff{}', 'NaN', '{"a":1,}'])
      await refused({ path: '/mail/ack', body }, 400, 'malformed')
    for (const body of ['null', '7', '"x"', '[]', '[{}]', 'true']) await refused({ body }, 400, 'malformed')
  })

  test('invalid UTF-8 and lone surrogates are refused, never altered', async () => {
    const head = (length: number) => request({ headers: { 'Content-Length': String(length) }, body: '' })
    const start = `{"to":"${ann.id}","subject":"s","body":"`
    for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82], [0x80]]) {
      const body = Buffer.concat([Buffer.from(start), Buffer.from(bytes), Buffer.from('"}')])
      const answer = await send(Buffer.concat([Buffer.from(head(body.length)), body]))
      expect([bytes, answer.status, answer.kind]).toEqual([bytes, 400, 'malformed'])
    }
    for (const text of ['\\ud800', 'x\\udc00', '\\ud800x', '\\udc00\\ud800'])
      for (const body of [
        `${start}${text}"}`,
        `{"to":"${ann.id}","subject":"${text}","body":"b"}`,
        `{"to":"${ann.id}","subject":"s","body":"b","correlation":"${text}"}`,
        `{"to":"${ann.id}","subject":"s","body":"b","idempotency_key":"${text}"}`,
        `{"to":"${ann.id}","subject":"s","body":"b","refs":[{"kind":"k","locator":"${text}"}]}`,
        `{"to":"${text}","subject":"s","body":"b"}`,
        `{"to":"${ann.id}","subject":"s","body":"b","${text}":1}`,
      ])
        await refused({ body }, 400, 'malformed')
    await refused({ path: '/mail/status', body: '{"role":"\\ud800"}' }, 400, 'malformed')
  })

  test('keys of the prototype are fields like any other: unknown', async () => {
    for (const key of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'toJSON'])
      for (const value of ['null', '{}', '{"to":"x","may_send":true}', '[]']) {
        const body = `{"${key}":${value},${letter().slice(1)}`
        expect((await refused({ body }, 400, 'malformed')).text).toContain(`"field":"${key}"`)
        const inner = `{"to":{"kind":"direct","participant":"${ann.id}","${key}":${value}},"subject":"s","body":"b"}`
        expect((await refused({ body: inner }, 400, 'malformed')).text).toContain(`"field":"to.${key}"`)
      }
    const only = '{"__proto__":{"to":"x","subject":"s","body":"b"}}'
    expect((await refused({ body: only }, 400, 'malformed')).text).toContain('"field":"__proto__"')
  })

  test('deep nesting and huge numbers do not hurt', async () => {
    for (const depth of [100, 10_000, 400_000]) {
      for (const [open, close] of [
        ['[', ']'],
        ['{"a":', '}'],
      ] as const) {
        const most = Math.min(depth, Math.floor(1_000_000 / (open.length + close.length)))
        await refused({ body: `${open.repeat(most)}1${close.repeat(most)}` }, 400, 'malformed')
        const field = `{"to":"${ann.id}","subject":"s","body":${open.repeat(most)}1${close.repeat(most)}}`
        await refused({ body: field }, 400, 'malformed')
      }
    }
    for (const number of ['1e999', '-1', '1.5', '9'.repeat(400), '-0.0000001'])
      expect((await send(request({ path: '/mail/inbox', body: `{"limit":${number}}` }))).status).toBe(400)
  })

  test('sizes: over the limit refused by name, declared or seen, and lies about it', async () => {
    const big = JSON.stringify({ to: ann.id, subject: 's', body: 'x'.repeat(1_100_000) })
    await refused({ body: big }, 400, 'too_large')
    await refused({ headers: { 'Content-Length': String(1_048_577) }, body: ' '.repeat(1_048_577) }, 400, 'too_large')
    const parts = Array.from({ length: 20 }, () => `10000\r\n${' '.repeat(65_536)}\r\n`)
    const answer = await send(chunked(...parts, '0\r\n\r\n'))
    expect([answer.status, answer.kind]).toEqual([400, 'too_large'])
    for (const length of ['-1', '1e3', '0x10', 'abc', '99999999999999999999', '5, 6']) {
      const odd = await exchange(TARGETS[name](), request({ headers: { 'Content-Length': length } }), 3_000)
      expect([length, odd.status === 0 || odd.status >= 400]).toEqual([length, true])
    }
  })

  test('chunks that are garbage, two lengths, and smuggling', async () => {
    for (const bytes of [
      chunked('zz\r\nx\r\n0\r\n\r\n'),
      chunked('ffffffffffffffff1\r\nx\r\n0\r\n\r\n'),
      chunked('-5\r\nhello\r\n0\r\n\r\n'),
      request({ headers: { 'Transfer-Encoding': 'chunked, identity' } }),
      request({ headers: { 'Transfer-Encoding': 'xchunked', 'Content-Length': null } }),
      request().replace('Content-Length', 'Content-Length: 3\r\nContent-Length'),
      request().replace('Host:', 'Host : x\r\nHost:'),
      request().replace('\r\nHost', '\r\n Host'),
      request().replace('Authorization: Bearer ', 'Authorization: Bearer x\r\nAuthorization: Bearer '),
      'GARBAGE\r\n\r\n',
      '\0\x01\x02\r\n\r\n',
      '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      'POST /mail/send\r\n\r\n',
      'POST /mail/send HTTP/9.9\r\n\r\n',
    ]) {
      const answer = await exchange(TARGETS[name](), bytes, 2_000)
      expect([bytes.slice(0, 200), answer.status === 0 || answer.status >= 400]).toEqual([bytes.slice(0, 200), true])
    }
    // a second request hidden in the body of one with both lengths is never run
    const hidden = request()
    const smuggled = request({
      path: '/mail/whoami',
      headers: { 'Transfer-Encoding': 'chunked', 'Content-Length': '4' },
      body: `0\r\n\r\n${hidden}`,
    })
    await exchange(TARGETS[name](), smuggled, 2_000)
  })

  test('huge heads are refused, and so are many headers', async () => {
    const wide = await send(request({ headers: { 'X-Wide': 'a'.repeat(300_000) } }))
    expect(wide.status === 0 || wide.status >= 400).toBe(true)
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`X-${i}`, 'v'.repeat(50)]))
    const answer = await send(request({ headers: many }))
    expect(answer.status === 0 || answer.status >= 400).toBe(true)
    const long = await send(request({ method: 'GET', path: `/health?${'q'.repeat(200_000)}`, body: '' }))
    expect(long.status === 0 || long.status >= 400).toBe(true)
    await refused({ headers: { Authorization: `Bearer ${'x'.repeat(10_000)}` } }, 401, 'unauthenticated')
  })

  test('HTTP/1.0 is answered, or refused for want of a host', async () => {
    const answer = await send(request({ version: '1.0', path: '/mail/whoami', body: '{}' }))
    expect([answer.status, answer.text.includes(ann.id)]).toEqual([200, true])
    const bare = await send('GET /health HTTP/1.0\r\n\r\n')
    expect([bare.status, bare.kind]).toEqual([403, 'bad_host'])
  })

  test('pipelined requests are answered in their order, or the connection ends: Bun’s TCP server takes none', async () => {
    const raw = new Raw(TARGETS[name]())
    const order = Array.from({ length: 20 }, (_, i) => i)
    raw.write(
      order
        .map((i) =>
          request({ path: i % 2 ? '/mail/none' : '/mail/whoami', headers: { 'X-Request-Id': `p${i}` }, body: '{}' }),
        )
        .join(''),
    )
    const { text, closed } = await raw.read((so) => so.includes('p19') && so.endsWith('}'))
    raw.close()
    const seen = [...text.matchAll(/x-request-id: p(\d+)/gi)].map(([, n]) => Number(n))
    expect(seen).toEqual(order.slice(0, seen.length))
    expect(closed || seen.length === order.length).toBe(true)
    if (name === 'socket') expect(seen).toEqual(order)
  })

  test('half-open and slow ones hold up nobody', async () => {
    const silent = Array.from({ length: 50 }, () => new Raw(TARGETS[name]()))
    for (const raw of silent) raw.write(request().slice(0, 60))
    const slow = new Raw(TARGETS[name]())
    const text = request({ path: '/mail/whoami', body: '{}' })
    for (const byte of text) {
      slow.write(byte)
      if (text.indexOf(byte) % 40 === 0) await Bun.sleep(1)
    }
    const began = performance.now()
    for (let i = 0; i < 20; i++) await ann.ask('whoami')
    expect(performance.now() - began).toBeLessThan(5_000)
    expect((await slow.read(isWhole)).text).toStartWith('HTTP/1.1 200')
    slow.close()
    // a body that never comes in whole is no letter, whether the client leaves or says that it has ended
    const cut = new Raw(TARGETS[name]())
    cut.write(request({ headers: { 'Content-Length': '500' } }))
    await Bun.sleep(50)
    cut.close()
    const ended = new Raw(TARGETS[name]())
    ended.write(request({ headers: { 'Content-Length': '500' } }))
    ended.finish()
    const answer = await ended.read(isWhole, 1_000)
    expect(answer.text).not.toStartWith('HTTP/1.1 200')
    ended.close()
    for (const raw of silent) raw.close()
  })
})

test('who closes its half of the connection has left: a whole answer or the end at once, and nothing stays open', async () => {
  for (const target of Object.values(TARGETS))
    for (const body of ['{}', '{"wait_secs":30}']) {
      const raw = new Raw(target())
      raw.write(request({ path: '/mail/inbox', body }))
      raw.finish()
      const { text, closed } = await raw.read(isWhole, 5_000)
      raw.close()
      expect([body, closed || text.startsWith('HTTP/1.1 200')]).toEqual([body, true])
    }
})

test('the same letter, well made, is stored: the attacks were refused for what they were', async () => {
  for (const target of Object.values(TARGETS)) {
    const answer = await exchange(target(), request())
    expect(answer.status).toBe(200)
    stored++
  }
  const answer = await exchange(
    TARGETS.tcp(),
    chunked(`${letter().length.toString(16)}\r\n${letter()}\r\n`, '0\r\n\r\n'),
  )
  expect(answer.status).toBe(200)
  stored++
})
