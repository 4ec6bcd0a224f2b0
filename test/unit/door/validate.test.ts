// A request that does not fit is refused by the name of its first fault, without the caller's values.
import { expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import fc from 'fast-check'
import { checkRequest } from '../../../src/door/validate.ts'
import { ADMIN } from '../../../src/wire/admin.ts'
import { OPERATIONS } from '../../../src/wire/operations.ts'

const send = (value: unknown) => checkRequest(OPERATIONS.send.request, value)?.toJSON()
const ok = { to: 'claude', body: 'x' }

test('what fits is null; null stands for absent where the schema says so', () => {
  expect(checkRequest(OPERATIONS.send.request, ok)).toBeNull()
  expect(checkRequest(OPERATIONS.send.request, { ...ok, to: [{ kind: 'room', room: 'build' }, 'codex'] })).toBeNull()
  expect(checkRequest(OPERATIONS.send.request, { ...ok, subject: null, refs: null })).toBeNull()
  expect(checkRequest(OPERATIONS.whoami.request, {})).toBeNull()
})

test.each([
  ['from', { ...ok, from: 'operator' }],
  ['session', { session: 's-1', to: 5 }],
  ['__proto__', JSON.parse('{"to":"a","body":"x","__proto__":{"from":"b"}}')],
  ['body', { to: 'claude' }],
  ['body', { ...ok, body: null }],
  ['to', { ...ok, to: 5 }],
  ['to', { ...ok, to: [] }],
  ['to', { ...ok, to: { kind: 'all' } }],
  ['to.participant', { ...ok, to: { kind: 'direct' } }],
  ['to.from', { ...ok, to: { kind: 'direct', participant: 'a', from: 'b' } }],
  ['to[1].room', { ...ok, to: ['a', { kind: 'room', room: 'b c' }] }],
  ['refs[0].locator', { ...ok, refs: [{ kind: 'file', locator: '' }] }],
  ['reply_to', { ...ok, reply_to: 'm4a_1' }],
  ['close', { ...ok, close: 'yes' }],
  ['request', null],
  ['request', [ok]],
  ['request', 'text'],
])('malformed names %s', (field, value) => {
  expect(send(value)).toMatchObject({ kind: 'malformed', field })
})

test('too_large says what is counted, and what to do', () => {
  const said = (refusal: { message: string; hint: string } | null | undefined) => [refusal?.message, refusal?.hint]
  expect(said(send({ ...ok, subject: 'x'.repeat(600) }))).toEqual([
    'subject is 600 bytes, the limit is 512 bytes',
    'make it 512 bytes or less',
  ])
  expect(said(checkRequest(OPERATIONS.claim.request, { claim_secs: 7200 }))).toEqual([
    'claim_secs is 7200 seconds, the limit is 3600 seconds',
    'make it 3600 seconds or less',
  ])
  expect(said(checkRequest(OPERATIONS.inbox.request, { limit: 257 }))).toEqual([
    'limit is 257, the limit is 256',
    'make it 256 or less',
  ])
  expect(said(send({ ...ok, refs: Array(9).fill({ kind: 'a', locator: 'b' }) }))[0]).toBe(
    'refs has 9 entries, the limit is 8 entries',
  )
})

test('too_large carries the limit and the size in bytes', () => {
  expect(send({ ...ok, subject: 'é'.repeat(513) })).toMatchObject({ field: 'subject', limit: 512, actual: 1026 })
  expect(send({ ...ok, refs: Array(9).fill({ kind: 'a', locator: 'b' }) })).toMatchObject({ field: 'refs', limit: 8 })
  expect(checkRequest(OPERATIONS.inbox.request, { limit: 257 })?.toJSON()).toMatchObject({
    kind: 'too_large',
    limit: 256,
    actual: 257,
  })
})

test('no refusal holds a value of the caller', () => {
  const secret = 'hunter2'
  for (const field of Object.keys(OPERATIONS.send.request.properties))
    expect(JSON.stringify(send({ ...ok, [field]: { [field]: [secret] } }) ?? {})).not.toContain(secret)
})

const schemas = [...Object.values(OPERATIONS), ...Object.values(ADMIN)].map(({ request }) => request)
const fields = [...new Set(schemas.flatMap((schema) => Object.keys(schema.properties)))]
const values = fc.oneof(
  fc.constantFrom(null, true, 0, 1, 1.5, 300, '', 'claude', 'm4a_000000000001000000000001', 'open', 'x'.repeat(600)),
  fc.constantFrom<unknown>(
    { kind: 'direct', participant: 'a' },
    { kind: 'room', room: 'a b' },
    { kind: 'session' },
    [],
    ['a'],
  ),
  fc.jsonValue({ maxDepth: 2 }),
)

test('law: every misfit of every schema is explained, and nothing that fits is refused', () => {
  fc.assert(
    fc.property(fc.constantFrom(...schemas), fc.dictionary(fc.constantFrom(...fields), values), (schema, value) => {
      const refusal = checkRequest(schema, value)
      expect(refusal === null).toBe(Value.Check(schema, value))
      if (refusal) expect(refusal.facts.reason).not.toBe('does not match its schema')
    }),
    { numRuns: 3_000 },
  )
})
