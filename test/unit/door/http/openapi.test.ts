// The committed OpenAPI document is what the tables say. UPDATE_GOLDEN=1 writes it anew, for Biome to format.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { signature } from '../../../../src/delivery/ring.ts'
import { openapi } from '../../../../src/door/http/openapi.ts'
import { ADMIN } from '../../../../src/wire/admin.ts'
import { OPERATION_NAMES } from '../../../../src/wire/operations.ts'
import { dig, type Json } from '../../../support/json.ts'

const golden = Bun.file(join(import.meta.dir, '../../../golden/openapi.json'))
const document: Json = JSON.parse(JSON.stringify(openapi()))

test('is the committed one', async () => {
  if (process.env.UPDATE_GOLDEN) await golden.write(JSON.stringify(document, null, 2))
  expect(await golden.json()).toEqual(document)
})

test('has every route', () => {
  const paths = Object.keys(Object(dig(document, 'paths')))
  for (const name of OPERATION_NAMES) expect(paths).toContain(`/mail/${name}`)
  for (const route of Object.keys(ADMIN)) expect(paths).toContain(`/admin/${route}`)
})

test('a ring is described as it is sent', () => {
  const ring = dig(document, 'webhooks', 'doorbell', 'post')
  const [header] = dig(ring, 'parameters') as Json[]
  expect(dig(header ?? null, 'name')).toBe('X-M4A-Signature')
  expect(signature('key', '{}')).toMatch(new RegExp(String(dig(header ?? null, 'schema', 'pattern'))))
  const body = dig(ring, 'requestBody', 'content', 'application/json', 'schema', 'required')
  expect(body).toEqual(['account', 'to', 'message_id', 'from'])
})

test('every reference leads somewhere', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map((match) => match[1] ?? '')
  expect(references.length).toBeGreaterThan(20)
  for (const reference of references) expect(dig(document, ...reference.split('/'))).toBeDefined()
})
