// The tools as a model and its client meet them: portable schemas, a small list, answers and refusals as results.
import { expect, test } from 'bun:test'
import { mailTools } from '../../../../src/door/mcp/tools.ts'
import { Json as Ready } from '../../../../src/wire/json.ts'
import { OPERATIONS } from '../../../../src/wire/operations.ts'
import { Refusal } from '../../../../src/wire/refusal.ts'
import { dig, type Json, list, text } from '../../../support/json.ts'
import { legacy, modern, post, Recorder } from './client.ts'

const call = (name: string, args: Json, visitor = new Recorder()) =>
  post(legacy('tools/call', { name, arguments: args }), visitor)

test('the eight tools, always in the same order, in at most 8,192 bytes as sent, in both eras', async () => {
  const { message, headers } = modern('tools/list')
  for (const answer of [await post(legacy('tools/list')), await post(message, new Recorder(), headers)]) {
    expect(list(answer.json, 'result', 'tools').map((tool) => text(tool, 'name').replace('m4a_mail_', ''))).toEqual([
      'send',
      'inbox',
      'ack',
      'get',
      'whoami',
      'status',
      'peers',
      'search',
    ])
    expect(Buffer.byteLength(answer.text)).toBeLessThanOrEqual(8_192)
  }
})

/** Every schema inside `schema`, with its path. */
function walk(schema: Json, path: string): [string, Json][] {
  if (typeof schema !== 'object' || schema === null) return []
  return [[path, schema], ...Object.entries(schema).flatMap(([key, value]) => walk(value, `${path}/${key}`))]
}

test.each(mailTools.list.map((tool) => [tool.name, tool] as const))('%s is portable', (name, tool) => {
  expect(name).toMatch(/^[a-z0-9_]{1,40}$/)
  const schema: Json = JSON.parse(JSON.stringify(tool.inputSchema))
  expect(schema).toMatchObject({ type: 'object', additionalProperties: false, properties: expect.any(Object) })
  for (const key of ['anyOf', 'oneOf', 'allOf', '$ref', 'enum', 'not']) expect(dig(schema, key)).toBeUndefined()
  for (const property of Object.keys(Object(dig(schema, 'properties'))))
    expect(property).toMatch(/^[A-Za-z0-9_.-]{1,64}$/)
  for (const [path, part] of walk(schema, '')) {
    expect([path, dig(part, '$ref')]).toEqual([path, undefined])
    expect([path, Array.isArray(dig(part, 'type'))]).toEqual([path, false])
    expect([path, dig(part, 'type')]).not.toEqual([path, 'null'])
  }
  expect(tool.annotations).toMatchObject({ title: tool.title, openWorldHint: expect.any(Boolean) })
})

test('what a model leaves out may be null', async () => {
  const visitor = new Recorder()
  await call('m4a_mail_send', { to: 'claude', body: 'x', subject: null, reply_to: null, refs: null }, visitor)
  expect(visitor.performed).toHaveLength(1)
})

test.each([
  ['a string', 'claude/s-7f3a'],
  ['a tagged object', { kind: 'room', room: 'build' }],
  ['a list of both', ['#build', { kind: 'direct', participant: 'codex' }]],
])('to may be %s', async (_, to) => {
  const visitor = new Recorder()
  await call('m4a_mail_send', { to, body: 'x' }, visitor)
  expect(visitor.performed).toMatchObject([{ operation: 'send', request: { to, body: 'x' } }])
})

test('an answer is the same as text and structured; ready text is handed on as it is', async () => {
  const ready = '{"messages":[{"body":"1.0e2 \\u00e9\\n"}],"n":1.00}'
  const { text: sent, json } = await call('m4a_mail_inbox', {}, new Recorder(() => new Ready(ready)))
  expect(sent).toContain(`"structuredContent":${ready}`)
  expect(text(json, 'result', 'content', 0, 'text')).toBe(ready)
  expect(dig(json, 'result', 'isError')).toBeUndefined()
})

test('a bad argument is a result that names the field, and nothing is performed', async () => {
  for (const field of ['from', 'sender', 'session', 'account', 'constructor']) {
    const visitor = new Recorder()
    const { json, status } = await call('m4a_mail_send', { to: 'claude', body: 'x', [field]: 'operator' }, visitor)
    expect(status).toBe(200)
    expect(json).toMatchObject({ result: { isError: true, structuredContent: { kind: 'malformed', field } } })
    expect(JSON.parse(text(json, 'result', 'content', 0, 'text'))).toEqual(
      Object(dig(json, 'result', 'structuredContent')),
    )
    expect(visitor.performed).toEqual([])
  }
  for (const args of [null, [], 'x', 5]) {
    const { json } = await call('m4a_mail_get', args)
    expect(dig(json, 'result', 'isError')).toBe(true)
  }
})

test('a refusal is a result with the one refusal object', async () => {
  const refusal = new Refusal('unknown_participant', 'no account of that name', { participant: 'x' })
  const { json } = await call('m4a_mail_send', { to: 'x', body: 'y' }, new Recorder(() => Promise.reject(refusal)))
  expect(dig(json, 'result')).toMatchObject({ isError: true, structuredContent: JSON.parse(JSON.stringify(refusal)) })
})

test.each(['nothing', 'toString', '__proto__', ''])('there is no tool %p', async (name) => {
  const { status, json } = await call(name, {})
  expect([status, dig(json, 'error', 'code')]).toEqual([200, -32602])
})

test('every tool says only fields that its operation takes, and what chooses another one', () => {
  const more: Record<string, string[]> = {
    m4a_mail_ack: ['state', 'claim_secs'],
    m4a_mail_get: ['thread', 'receipts', 'cursor'],
  }
  const operations = { peers: OPERATIONS.directory, ...OPERATIONS }
  for (const tool of mailTools.list) {
    const request = Object.entries(operations).find(([name]) => tool.name === `m4a_mail_${name}`)?.[1].request
    const said = Object.keys(Object(dig(JSON.parse(JSON.stringify(tool.inputSchema)), 'properties')))
    expect(request && said).toEqual([...Object.keys(request?.properties ?? {}), ...(more[tool.name] ?? [])])
  }
})

const ID = 'm4a_00000000002a9f3c51d07be4'
test.each<[string, { [name: string]: Json }, string, { [name: string]: Json }]>([
  ['ack', { message_id: ID }, 'ack', { message_id: ID }],
  ['ack', { message_id: ID, state: 'closed' }, 'ack', { message_id: ID }],
  ['ack', { message_id: ID, state: 'reopen' }, 'reopen', { message_id: ID }],
  ['ack', { message_ids: [ID], state: 'claim', claim_secs: 5 }, 'claim', { message_ids: [ID], claim_secs: 5 }],
  ['get', { message_id: ID, thread: false, receipts: null }, 'get', { message_id: ID }],
  ['get', { message_id: ID, thread: true }, 'thread', { message_id: ID, max_bytes: 10_000 }],
  ['get', { message_id: ID, receipts: true }, 'receipts', { message_id: ID, max_bytes: 10_000 }],
  ['search', { box: 'sent', limit: 3 }, 'search', { box: 'sent', limit: 3, max_bytes: 10_000 }],
  ['search', { state: 'closed' }, 'search', { state: 'closed', max_bytes: 10_000 }],
])('m4a_mail_%s reaches what else there is: %j runs %s', async (tool, args, operation, request) => {
  const visitor = new Recorder()
  await call(`m4a_mail_${tool}`, args, visitor)
  expect(visitor.performed.map((one) => [one.operation, one.request])).toEqual([[operation, request]])
})

test.each<[string, { [name: string]: Json }, string]>([
  ['ack', { message_id: ID, state: 'gone' }, 'state'],
  ['ack', { message_id: ID, claim_secs: 5 }, 'claim_secs'],
  ['get', { thread: true }, 'message_id'],
])('m4a_mail_%s with %j is refused, naming %s', async (tool, args, field) => {
  const visitor = new Recorder()
  const answer = await call(`m4a_mail_${tool}`, args, visitor)
  expect(visitor.performed).toEqual([])
  expect(dig(answer.json, 'result', 'structuredContent')).toMatchObject({ kind: 'malformed', field })
})
