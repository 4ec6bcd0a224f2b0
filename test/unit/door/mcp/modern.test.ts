// MCP 2026-07-28 at the door: discover, headers, `_meta`, versions, and what every result carries.
import { expect, test } from 'bun:test'
import { headersFor } from '../../../../src/door/mcp/headers.ts'
import { dig, list, text } from '../../../support/json.ts'
import { legacy, modern, post, Recorder } from './client.ts'

const SERVER = 'io.modelcontextprotocol/serverInfo'
const VERSION = 'io.modelcontextprotocol/protocolVersion'
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'

const call = (name: string, args = {}) => modern('tools/call', { name, arguments: args })

test('server/discover', async () => {
  const visitor = new Recorder()
  const { message, headers } = modern('server/discover')
  const { json, status } = await post(message, visitor, headers)
  expect(status).toBe(200)
  expect(list(json, 'result', 'supportedVersions')).toEqual(['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'])
  expect(json).toMatchObject({ result: { resultType: 'complete', cacheScope: 'public', capabilities: { tools: {} } } })
  expect(dig(json, 'result', 'ttlMs')).toBeGreaterThanOrEqual(0)
  expect(text(json, 'result', '_meta', SERVER, 'name')).toBe('mail4agent')
  expect(visitor.greeted[0]?.client).toEqual({ name: 'claude-code', version: '2.1.332' })
})

test('tools/list and tools/call carry what the era wants', async () => {
  const listed = modern('tools/list')
  const { json } = await post(listed.message, new Recorder(), listed.headers)
  expect(json).toMatchObject({ result: { resultType: 'complete', cacheScope: 'public', ttlMs: expect.any(Number) } })

  const visitor = new Recorder()
  const called = call('m4a_mail_whoami')
  const answer = await post(called.message, visitor, called.headers)
  expect(answer.json).toMatchObject({ result: { resultType: 'complete', structuredContent: { done: true } } })
  expect(text(answer.json, 'result', '_meta', SERVER, 'version')).not.toBe('')
  expect(visitor.performed[0]?.said.client?.name).toBe('claude-code')
})

test('clientInfo may be absent', async () => {
  const { message, headers } = modern('tools/list', {}, { [VERSION]: '2026-07-28', [CAPABILITIES]: {} })
  expect((await post(message, new Recorder(), headers)).status).toBe(200)
})

test.each([
  ['no version header', { 'mcp-protocol-version': undefined }, -32020],
  ['another version in the header', { 'mcp-protocol-version': '2025-11-25' }, -32020],
  ['no method header', { 'mcp-method': undefined }, -32020],
  ['another method in the header', { 'mcp-method': 'TOOLS/CALL' }, -32020],
  ['no name header', { 'mcp-name': undefined }, -32020],
  ['another name in the header', { 'mcp-name': 'm4a_mail_send' }, -32020],
])('%s is refused with 400', async (_, change, code) => {
  const { message, headers } = call('m4a_mail_whoami')
  const changed = Object.entries({ ...headers, ...change }).filter(([, value]) => value !== undefined)
  const { status, json } = await post(message, new Recorder(), Object.fromEntries(changed))
  expect([status, dig(json, 'error', 'code'), dig(json, 'id')]).toEqual([400, code, 1])
})

test('a name that no header can hold travels encoded', async () => {
  const { message, headers } = call('m4a_mail_größe')
  const encoded = headersFor({ kind: 'request', id: 1, method: 'tools/call', params: message.params })
  expect(encoded['mcp-name']).toStartWith('=?base64?')
  const { status, json } = await post(message, new Recorder(), { ...headers, ...encoded })
  expect([status, dig(json, 'error', 'code')]).toEqual([200, -32602])
})

test.each([
  ['version', { [CAPABILITIES]: {} }],
  ['capabilities', { [VERSION]: '2026-07-28' }],
])('_meta without %s is -32602 with 400', async (_, meta) => {
  const { message, headers } = modern('tools/list', {}, meta)
  const { status, json } = await post(message, new Recorder(), headers)
  expect([status, dig(json, 'error', 'code')]).toEqual([400, -32602])
})

test('a header alone makes a message modern', async () => {
  const { headers } = modern('tools/list')
  const { status, json } = await post(legacy('tools/list'), new Recorder(), headers)
  expect([status, dig(json, 'error', 'code')]).toEqual([400, -32602])
})

test('an unknown version is told what there is', async () => {
  const { message, headers } = modern('tools/list', {}, { [VERSION]: '2030-01-01', [CAPABILITIES]: {} })
  const { status, json } = await post(message, new Recorder(), { ...headers, 'mcp-protocol-version': '2030-01-01' })
  expect([status, dig(json, 'error', 'code'), dig(json, 'error', 'data', 'requested')]).toEqual([
    400,
    -32022,
    '2030-01-01',
  ])
  expect(list(json, 'error', 'data', 'supported')).toContain('2026-07-28')
})

test.each(['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'subscriptions/listen', 'constructor'])(
  '%s does not exist: 404',
  async (method) => {
    const { message, headers } = modern(method)
    const { status, json } = await post(message, new Recorder(), headers)
    expect([status, dig(json, 'error', 'code')]).toEqual([404, -32601])
  },
)

test('notifications are accepted', async () => {
  const { message, headers } = modern('notifications/cancelled')
  const { id: _, ...notification } = message
  expect((await post(notification, new Recorder(), headers)).status).toBe(202)
})
