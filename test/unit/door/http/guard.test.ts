// Which requests get past the guard: loopback names, own pages, JSON bodies of bounded size.
import { describe, expect, test } from 'bun:test'
import { bounded, checkBody, checkSource, readJson } from '../../../../src/door/http/guard.ts'
import { LIMITS } from '../../../../src/wire/limits.ts'
import { Refusal } from '../../../../src/wire/refusal.ts'

const from = (headers: Record<string, string>) => new Request('http://localhost/', { headers })
const post = (body: BodyInit, headers: Record<string, string> = {}) =>
  new Request('http://localhost/', {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  })
const streamed = (...parts: string[]) => {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of parts) controller.enqueue(new TextEncoder().encode(part))
      controller.close()
    },
  })
  return post(body)
}

function kindOf(run: () => unknown): string {
  try {
    run()
    return 'passed'
  } catch (error) {
    return error instanceof Refusal ? error.kind : String(error)
  }
}

async function refusalOf(promise: Promise<unknown>): Promise<Refusal> {
  const error = await promise.then(
    () => null,
    (reason) => reason,
  )
  if (error instanceof Refusal) return error
  throw new Error(`no refusal: ${error}`)
}

describe('source', () => {
  test.each(['127.0.0.1', '127.0.0.1:18301', 'localhost:1', 'LOCALHOST', '[::1]:18301'])('host %s passes', (host) => {
    expect(kindOf(() => checkSource(from({ host })))).toBe('passed')
  })
  test.each([
    '',
    'evil.example',
    '127.0.0.1.evil.example',
    'localhost.evil',
    '127.0.0.2',
    '0.0.0.0',
    '[::]',
    'localhost:',
    'a@localhost',
  ])('host %p is refused', (host) => {
    expect(kindOf(() => checkSource(from({ host })))).toBe('bad_host')
  })
  test.each(['cross-site', 'same-site'])(
    'what a %s page loads without an Origin is refused, a link is followed',
    (site) => {
      const asked = { host: '127.0.0.1:1', 'sec-fetch-site': site }
      for (const mode of ['no-cors', 'cors', 'websocket'])
        expect(kindOf(() => checkSource(from({ ...asked, 'sec-fetch-mode': mode })))).toBe('bad_origin')
      expect(kindOf(() => checkSource(from(asked)))).toBe('bad_origin')
      expect(kindOf(() => checkSource(from({ ...asked, 'sec-fetch-mode': 'navigate' })))).toBe('passed')
      for (const own of ['same-origin', 'none'])
        expect(kindOf(() => checkSource(from({ ...asked, 'sec-fetch-site': own })))).toBe('passed')
    },
  )
  test.each(['http://localhost:18301', 'http://127.0.0.1:18301', 'http://[::1]:18301'])(
    'origin %s passes',
    (origin) => {
      expect(kindOf(() => checkSource(from({ host: 'localhost:18301', origin })))).toBe('passed')
    },
  )
  test.each([
    'null',
    '',
    'http://evil.example',
    'http://localhost:3000',
    'http://localhost',
    'https://localhost:18301',
    'http://localhost:18301.evil',
  ])('origin %p is refused', (origin) => {
    expect(kindOf(() => checkSource(from({ host: 'localhost:18301', origin })))).toBe('bad_origin')
  })
})

describe('body', () => {
  test('JSON passes, with parameters and in any case', () => {
    for (const type of ['application/json', 'application/json; charset=utf-8', 'Application/JSON'])
      expect(kindOf(() => checkBody(post('{}', { 'content-type': type })))).toBe('passed')
  })
  test('other types are refused, so that a web page cannot send one without asking', () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', ''])
      expect(kindOf(() => checkBody(post('{}', { 'content-type': type })))).toBe('unsupported_media_type')
  })
  const read = (request: Request) => readJson(request, checkBody(request))
  test('none at all needs no type and reads as an empty object', async () => {
    const empty = new Request('http://localhost/', { method: 'POST' })
    expect(kindOf(() => checkBody(empty))).toBe('passed')
    expect(await read(empty)).toEqual({})
  })
  test('a declared size over the limit is refused unread, with the limit', () => {
    const request = post('{}', { 'content-length': String(LIMITS.request + 1) })
    expect(kindOf(() => checkBody(request))).toBe('too_large')
  })
  test('a chunked one is read up to the limit', async () => {
    expect(await read(streamed('{"a"', ':1}'))).toEqual({ a: 1 })
    const half = 'x'.repeat(LIMITS.request / 2 + 1)
    const refusal = await refusalOf(read(streamed(half, half)))
    expect(refusal.toJSON()).toMatchObject({ kind: 'too_large', field: 'request', limit: LIMITS.request })
    expect((await refusalOf(bounded(streamed(half, half), null))).kind).toBe('too_large')
  })
  test('what is not JSON or not UTF-8 is refused without being shown', async () => {
    const notJson = await refusalOf(read(post('{"secret":')))
    expect(notJson.toJSON()).toMatchObject({ kind: 'malformed', field: 'request', reason: 'is not JSON' })
    expect(JSON.stringify(notJson)).not.toContain('secret')
    const notText = post(Uint8Array.of(0x22, 0xff, 0x22))
    expect((await refusalOf(read(notText))).facts.reason).toBe('is not UTF-8')
    // cut within a character, then one that would go on with it: nothing is carried over
    expect((await refusalOf(read(post(Uint8Array.of(0x22, 0xc3))))).facts.reason).toBe('is not UTF-8')
    expect((await refusalOf(read(post(Uint8Array.of(0xa9, 0x22))))).facts.reason).toBe('is not UTF-8')
    expect(await read(post('{"a":"é"}'))).toEqual({ a: 'é' })
  })
})
