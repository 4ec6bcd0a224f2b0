// The routes: what each needs, how it refuses, and that prior clients' empty bodies are fine.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Office } from '../support.ts'

let office: Office
beforeAll(async () => {
  office = await Office.open('alice', 'bob', 'shy')
})
afterAll(() => office[Symbol.asyncDispose]())

const bearer = (account: string) => ({ authorization: `Bearer ${office.token(account)}` })
const post = (path: string, account: string, body?: unknown) =>
  office.fetch(path, {
    method: 'POST',
    headers: { ...bearer(account), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })

// OWASP ASVS 4.0.3, 14.4.4; over MCP, whose answers are made elsewhere, and of a stream, too
test.each([
  ['GET', '/health', 200],
  ['GET', '/nothing', 404],
  ['POST', '/mail/send', 400],
  ['POST', '/mail/whoami', 200],
  ['GET', '/openapi.json', 200],
  ['POST', '/mcp', 400],
  ['GET', '/mcp', 405],
  ['GET', '/events', 200],
])('no browser guesses what %s %s answers', async (method, path, status) => {
  const answer = await office.fetch(path, { method, headers: bearer('alice') })
  await answer.body?.cancel()
  expect([answer.status, answer.headers.get('x-content-type-options')]).toEqual([status, 'nosniff'])
})

describe('without a bearer', () => {
  test('/health answers with what a prior client reads', async () => {
    const answer = await office.fetch('/health')
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({
      ok: true,
      service: 'mail4agent',
      started_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      uptime_secs: expect.any(Number),
      dependencies: [],
      background_tasks: [],
      attestation: { ok: true },
    })
  })
  test.each(['/mail/whoami', '/mail/send', '/admin/participant', '/mcp'])('POST %s is 401', async (path) => {
    const answer = await office.fetch(path, { method: 'POST' })
    expect(answer.status).toBe(401)
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="mail4agent"')
    expect(await answer.json()).toMatchObject({ kind: 'unauthenticated' })
  })
  test.each(['/events', '/metrics', '/openapi.json'])('GET %s is 401', async (path) => {
    expect((await office.fetch(path)).status).toBe(401)
  })
  test.each([
    ['GET', '/.well-known/oauth-protected-resource/mcp'],
    ['GET', '/.well-known/oauth-authorization-server'],
    ['POST', '/register'],
    ['GET', '/authorize'],
    ['POST', '/token'],
    ['POST', '/mail/nothing'],
    ['GET', '/'],
  ])('%s %s is a plain 404', async (method, path) => {
    const form =
      method === 'POST' ? { body: 'a=b', headers: { 'content-type': 'application/x-www-form-urlencoded' } } : {}
    const answer = await office.fetch(path, { method, ...form })
    expect(answer.status).toBe(404)
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(await answer.json()).toMatchObject({ kind: 'not_found' })
  })
  test.each([
    ['GET', '/mcp', 'POST'],
    ['DELETE', '/mcp', 'POST'],
    ['GET', '/mail/send', 'POST'],
    ['PUT', '/admin/room/member/add', 'POST'],
    ['POST', '/health', 'GET'],
    ['OPTIONS', '/mail/inbox', 'POST'],
  ])('%s %s is 405 and names %s', async (method, path, allow) => {
    const answer = await office.fetch(path, { method })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow])
    expect(await answer.json()).toMatchObject({ kind: 'method_not_allowed', allow })
  })
  test('foreign pages and rebound names reach nothing, a 404 neither', async () => {
    for (const path of ['/health', '/nothing']) {
      const page = await office.fetch(path, { headers: { origin: 'http://evil.example' } })
      expect([page.status, (await page.json()).kind]).toEqual([403, 'bad_origin'])
      const rebound = await office.fetch(path, { headers: { host: 'evil.example' } })
      expect([rebound.status, (await rebound.json()).kind]).toEqual([403, 'bad_host'])
    }
  })
})

test('a wrong token is invalid_token', async () => {
  const answer = await office.fetch('/mail/whoami', { method: 'POST', headers: { authorization: 'Bearer nope' } })
  expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"')
})

test('empty bodies are fine where nothing is asked', async () => {
  expect((await post('/mail/whoami', 'alice')).status).toBe(200)
  expect((await post('/mail/directory', 'alice')).status).toBe(200)
  const send = await post('/mail/send', 'alice')
  expect(await send.json()).toMatchObject({ kind: 'malformed', field: 'body' })
})

test.each(['from', 'sender', 'session', 'account'])(
  'a chosen %s is refused by its name and stores nothing',
  async (field) => {
    const answer = await post('/mail/send', 'alice', { to: 'bob', subject: 's', body: 'b', [field]: 'bob' })
    expect([answer.status, await answer.json()]).toMatchObject([400, { kind: 'malformed', field }])
    expect(await office.client('bob').call('unread', {})).toMatchObject({ unread: 0 })
  },
)

test('limits are told with field, limit and bytes', async () => {
  const answer = await post('/mail/send', 'alice', { to: 'bob', subject: 's', body: 'é'.repeat(65_537) })
  expect(await answer.json()).toMatchObject({ kind: 'too_large', field: 'body', limit: 65_536, actual: 131_074 })
  const whole = await post('/mail/send', 'alice', { to: 'bob', subject: 's', body: 'x'.repeat(1_100_000) })
  expect([whole.status, await whole.json()]).toMatchObject([400, { kind: 'too_large', field: 'request' }])
})

test('a body that is no JSON, or not said to be', async () => {
  expect(await (await post('/mail/send', 'alice', '{')).json()).toMatchObject({ kind: 'malformed', field: 'request' })
  const plain = await office.fetch('/mail/whoami', { method: 'POST', headers: bearer('alice'), body: '{}' })
  expect([plain.status, (await plain.json()).kind]).toEqual([415, 'unsupported_media_type'])
})

test('admin routes are for operators', async () => {
  const answer = await post('/admin/participant/list', 'alice', {})
  expect([answer.status, await answer.json()]).toMatchObject([
    403,
    { kind: 'permission_denied', need: 'mail:operator' },
  ])
})

test('the request id comes back, or one is made', async () => {
  const echoed = await office.fetch('/health', { headers: { 'x-request-id': 'mine-1' } })
  expect(echoed.headers.get('x-request-id')).toBe('mine-1')
  expect((await office.fetch('/health')).headers.get('x-request-id')).toMatch(/^[0-9a-f]{16}-[0-9a-f]+$/)
})

test('a letter goes round: send, inbox, get, ack, receipt', async () => {
  const alice = office.client('alice')
  const bob = office.client('bob', 'unix')
  const { message_id } = await alice.call('send', { to: 'bob', subject: 'hi', body: 'line\r\nline' })
  const { messages } = await bob.call('inbox', {})
  expect(messages.map((message) => message.message_id)).toEqual([message_id])
  expect(await bob.call('get', { message_id })).toMatchObject({ body: 'line\r\nline', state: 'opened' })
  expect(await bob.call('ack', { message_id })).toMatchObject({ ack: { message_id }, unread: 0 })
  const { receipts } = await alice.call('receipts', { message_id })
  expect(receipts[0]?.deliveries[0]).toMatchObject({ to_text: 'bob', state: 'closed', close_reason: 'acknowledged' })
})

test('an MCP client that only connects and lists the tools is no session; its first call makes one', async () => {
  const sessions = async () => {
    const { participants } = await office.client('bob').call('directory', {})
    return participants.find(({ id }) => id === 'shy')?.sessions.length
  }
  const say = async (method: string, params: object) =>
    (await post('/mcp', 'shy', { jsonrpc: '2.0', id: 1, method, params })).status
  const clientInfo = { name: 'my-client', version: '1' }
  expect(await say('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })).toBe(200)
  expect(await say('tools/list', {})).toBe(200)
  expect(await sessions()).toBe(0)
  expect(await say('tools/call', { name: 'm4a_mail_whoami' })).toBe(200)
  expect(await sessions()).toBe(1)
})

test('MCP answers with the same session over HTTP, our headers on it', async () => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'm4a_mail_whoami' } })
  const answer = await post('/mcp', 'alice', body)
  expect(answer.headers.get('cache-control')).toBe('no-store')
  const { result } = await answer.json()
  const { address_text } = await office.client('alice').call('whoami', {})
  expect(result.structuredContent.address_text).toBe(address_text)
  const silent = await post('/mcp', 'alice', '{"jsonrpc":"2.0","method":"notifications/initialized"}')
  expect([silent.status, await silent.text(), silent.headers.get('content-type')]).toEqual([202, '', null])
})
