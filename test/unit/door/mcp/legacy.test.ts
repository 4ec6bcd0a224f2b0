// MCP 2025-03-26 to 2025-11-25 at the door: initialize, lists, calls, notifications, batches, and what is refused.
import { expect, test } from 'bun:test'
import { handleMcp } from '../../../../src/door/mcp/door.ts'
import { mailTools } from '../../../../src/door/mcp/tools.ts'
import { LIMITS } from '../../../../src/wire/limits.ts'
import { dig, list, text } from '../../../support/json.ts'
import { legacy, post, Recorder } from './client.ts'

const version = (protocolVersion: string) => legacy('initialize', { protocolVersion, capabilities: {} })

test.each([
  ['2025-03-26', '2025-03-26'],
  ['2025-06-18', '2025-06-18'],
  ['2025-11-25', '2025-11-25'],
  ['2024-11-05', '2025-11-25'],
  ['2026-07-28', '2025-11-25'],
  ['9999-01-01', '2025-11-25'],
])('initialize %s answers %s', async (asked, answered) => {
  const { json, headers, status } = await post(version(asked), new Recorder(), { 'mcp-protocol-version': asked })
  expect(status).toBe(200)
  expect(dig(json, 'result', 'protocolVersion')).toBe(answered)
  expect(dig(json, 'result', 'capabilities')).toEqual({ tools: {} })
  expect(text(json, 'result', 'instructions')).toContain('not from your user')
  expect(headers.get('mcp-session-id')).toBeNull()
})

test('initialize tells who the client is, and may be repeated', async () => {
  const visitor = new Recorder()
  const clientInfo = { name: 'codex', version: '0.171.0', title: 'Codex' }
  for (const id of [1, 'two']) await post(legacy('initialize', { clientInfo }, id), visitor)
  expect(visitor.greeted).toHaveLength(2)
  expect(visitor.greeted[0]?.client).toEqual({ name: 'codex', version: '0.171.0' })
})

test('ping and tools/list need no initialize and no version header', async () => {
  expect((await post(legacy('ping', {}, 'a'))).text).toBe('{"jsonrpc":"2.0","id":"a","result":{}}')
  expect(list((await post(legacy('tools/list'))).json, 'result', 'tools')).toHaveLength(8)
})

test('an unknown method is an error with status 200, an unknown notification is accepted', async () => {
  const unknown = await post(legacy('resources/list'))
  expect([unknown.status, dig(unknown.json, 'error', 'code')]).toEqual([200, -32601])
  for (const method of ['notifications/initialized', 'notifications/whatever']) {
    const { status, headers, text: body } = await post({ jsonrpc: '2.0', method })
    expect([status, body, headers.get('content-type')]).toEqual([202, '', null])
  }
  expect((await post({ jsonrpc: '2.0', id: 7, result: {} })).status).toBe(202)
})

test('a thread or chat that the client names becomes the conversation of the call', async () => {
  const visitor = new Recorder()
  const chat = { 'vscode.conversationId': '5c1f-chat', 'vscode.requestId': 'request_1' }
  for (const _meta of [{ threadId: '0198-thread', progressToken: 3 }, chat, { 'vscode.conversationId': 7 }, {}])
    await post(legacy('tools/call', { name: 'm4a_mail_whoami', arguments: {}, _meta }), visitor)
  await post(legacy('tools/call', { name: 'm4a_mail_whoami' }), visitor)
  expect(visitor.performed.map(({ said }) => said.conversation)).toEqual([
    { key: '0198-thread', source: 'meta' },
    { key: '5c1f-chat', source: 'meta', of: 'vscode' },
    undefined,
    undefined,
    undefined,
  ])
  expect(visitor.performed[0]?.patience.capSeconds).toBe(LIMITS.waitMcp)
})

test.each([
  ['not JSON', '{"jsonrpc":', -32700],
  ['no version', { id: 1, method: 'ping' }, -32600],
  ['a null id', legacy('ping', {}, null), -32600],
  ['an object for an id', legacy('ping', {}, {}), -32600],
  ['params as a list', { jsonrpc: '2.0', id: 1, method: 'ping', params: [] }, -32600],
  ['a string', '"ping"', -32600],
  ['an empty batch', [], -32600],
  ['a batch too long', Array(LIMITS.rpcBatch + 1).fill(legacy('ping')), -32600],
])('%s is refused with 400', async (_, body, code) => {
  const { status, json } = await post(body)
  expect([status, dig(json, 'error', 'code')]).toEqual([400, code])
})

test('bytes that are not UTF-8 are refused, not altered', async () => {
  const bytes = Buffer.concat([
    Buffer.from('{"jsonrpc":"2.0","id":1,"method":"'),
    Buffer.from([0xff]),
    Buffer.from('"}'),
  ])
  const request = new Request('http://127.0.0.1/mcp', { method: 'POST', body: bytes })
  expect((await handleMcp(request, mailTools, new Recorder())).status).toBe(400)
})

test('an unknown version in the header is refused and told what there is', async () => {
  const { status, json } = await post(legacy('tools/list'), new Recorder(), { 'mcp-protocol-version': '2024-11-05' })
  expect(status).toBe(400)
  expect(list(json, 'error', 'data', 'supported')).toContain('2025-11-25')
})

test('a batch answers its requests alone; notifications in it are silent', async () => {
  const batch = [
    legacy('ping', {}, 1),
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    legacy('nothing', {}, 2),
    legacy('initialize', {}, 3),
    'nonsense',
  ]
  const { json } = await post(batch, new Recorder(), { 'mcp-protocol-version': '2025-03-26' })
  expect(list(json).map((one) => [dig(one, 'id'), dig(one, 'error', 'code') ?? dig(one, 'result')])).toEqual([
    [1, {}],
    [2, -32601],
    [3, -32600],
    [null, -32600],
  ])
  expect((await post([{ jsonrpc: '2.0', method: 'notifications/initialized' }])).status).toBe(202)
})

test('later revisions have no batches', async () => {
  for (const header of ['2025-06-18', '2025-11-25', '2026-07-28'])
    expect((await post([legacy('ping')], new Recorder(), { 'mcp-protocol-version': header })).status).toBe(400)
})

test('the calls of a batch wait at the same time', async () => {
  let waiting = 0
  let most = 0
  const visitor = new Recorder(async () => {
    most = Math.max(most, ++waiting)
    await Bun.sleep(20)
    waiting--
    return {}
  })
  const call = legacy('tools/call', { name: 'm4a_mail_inbox', arguments: { wait_secs: 50 } })
  await post([call, call, call], visitor)
  expect(most).toBe(3)
})

test.each(['GET', 'DELETE', 'PUT'])('%s is 405 with Allow and a short body', async (method) => {
  const response = await handleMcp(new Request('http://127.0.0.1/mcp', { method }), mailTools, new Recorder())
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
  expect(await response.json()).toMatchObject({ kind: 'method_not_allowed' })
})

test('a call is told when its client leaves', async () => {
  const leaving = new AbortController()
  const visitor = new Recorder(async ({ patience }) => {
    leaving.abort()
    return { aborted: patience.signal.aborted }
  })
  const body = JSON.stringify(legacy('tools/call', { name: 'm4a_mail_inbox', arguments: { wait_secs: 9 } }))
  const request = new Request('http://127.0.0.1/mcp', { method: 'POST', body, signal: leaving.signal })
  const json = await (await handleMcp(request, mailTools, visitor)).json()
  expect(dig(json, 'result', 'structuredContent', 'aborted')).toBe(true)
})

test.each(['application/json', 'text/event-stream', '*/*', 'text/html', ''])(
  'any Accept is answered with JSON: %p',
  async (accept) => {
    const { status, headers, json } = await post(legacy('ping'), new Recorder(), { accept })
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json'])
    expect(dig(json, 'result')).toEqual({})
  },
)
