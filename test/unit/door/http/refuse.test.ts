// Every error leaves as the one refusal, with the headers that HTTP wants.
import { expect, test } from 'bun:test'
import { refuse } from '../../../../src/door/http/refuse.ts'
import { openLog } from '../../../../src/door/log.ts'
import { Refusal } from '../../../../src/wire/refusal.ts'

const damages: string[] = []
const mail = { store: { damaged: (reason: string) => damages.push(reason) } }
const silent = { log: openLog({ write: () => {} }), mail }
const request = (headers: Record<string, string> = {}) => new Request('http://localhost/', { headers })

test('a refusal keeps kind, message, hint, facts and status', async () => {
  const answer = refuse(new Refusal('claimed', 'taken', { claimed_by: 'a/s-1' }), request(), silent)
  expect(answer.status).toBe(409)
  expect(answer.headers.get('content-type')).toBe('application/json')
  expect(await answer.json()).toMatchObject({ kind: 'claimed', message: 'taken', claimed_by: 'a/s-1' })
})

test('401 says Bearer, and invalid_token where one was sent, and never names OAuth metadata', () => {
  const error = new Refusal('unauthenticated', 'no token')
  expect(refuse(error, request(), silent).headers.get('www-authenticate')).toBe('Bearer realm="mail4agent"')
  const sent = refuse(error, request({ authorization: 'Bearer x' }), silent)
  expect(sent.headers.get('www-authenticate')).toBe('Bearer realm="mail4agent", error="invalid_token"')
})

test('429 and 503 say when to come back, in whole seconds', () => {
  const after = (error: Refusal) => refuse(error, request(), silent).headers.get('retry-after')
  expect(after(new Refusal('rate_limited', 'slow', { retry_after_ms: 1_200 }))).toBe('2')
  expect(after(new Refusal('busy', 'full', { retry_after_ms: 5 }))).toBe('1')
  expect(after(new Refusal('shutting_down', 'bye'))).toBe('1')
})

test('405 carries Allow', () => {
  const answer = refuse(new Refusal('method_not_allowed', 'no', { allow: 'POST' }), request(), silent)
  expect(answer.headers.get('allow')).toBe('POST')
})

test('a fault of ours is logged and not shown; the request id joins the two', async () => {
  const lines: string[] = []
  const log = openLog({ human: false, write: (line) => lines.push(line) })
  const answer = refuse(new Error('secret detail'), request({ 'x-request-id': 'abc' }), { log, mail })
  const body = await answer.text()
  expect(answer.status).toBe(500)
  expect(body).not.toContain('secret detail')
  expect(JSON.parse(body)).toMatchObject({ kind: 'internal', request_id: 'abc' })
  expect(lines.join('')).toContain('request=abc')
  expect(lines.join('')).toContain('secret detail')
})

test('damage of the store is named as such, and the store is told; nothing else is taken for it', async () => {
  const answer = refuse(new Error('database disk image is malformed'), request(), silent)
  expect([answer.status, ((await answer.json()) as { kind: string }).kind]).toEqual([500, 'damaged_store'])
  refuse(new Error('a malformed address'), request(), silent)
  expect(damages).toEqual(['database disk image is malformed'])
})

test('a request id that could forge a header or a log line is replaced', () => {
  const id = (sent: string) =>
    refuse(new Refusal('busy', 'b'), request({ 'x-request-id': sent }), silent).headers.get('x-request-id')
  expect(id('abc-1')).toBe('abc-1')
  expect(id('a b')).not.toBe('a b')
  expect(id('x'.repeat(129))).not.toContain('x')
})
