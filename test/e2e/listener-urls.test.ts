// Which URLs a doorbell may have: this machine's own loopback, spelt plainly, and never the mailbox itself.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Mailbox } from './support/mailbox.ts'

let mailbox: Mailbox
beforeAll(async () => {
  mailbox = await Mailbox.start()
  await mailbox.account('urls')
})
afterAll(() => mailbox[Symbol.asyncDispose]())

async function listeners(): Promise<unknown> {
  return (await mailbox.admin('listener/list', {})).listeners
}

const bad = [
  'http://127.0.0.1@evil.example:9/',
  'http://127.0.0.1:9@evil.example/',
  'http://user:word@127.0.0.1:9/',
  'http://@127.0.0.1:9/',
  'http://127.1:9/',
  'http://127.0.1:9/',
  'http://0x7f000001:9/',
  'http://0x7f.0.0.1:9/',
  'http://0177.0.0.1:9/',
  'http://2130706433:9/',
  'http://127.0.0.2:9/',
  'http://0.0.0.0:9/',
  'http://0:9/',
  'http://[::1]:9/',
  'http://[::ffff:127.0.0.1]:9/',
  'http://[::]:9/',
  'http://localhost.evil:9/',
  'http://localhost.:9/',
  'http://evil.localhost:9/',
  'http://xlocalhost:9/',
  'http://127.0.0.1.evil:9/',
  'http://127.0.0.1.:9/',
  'http://127。0。0。1:9/',
  'http://ⓛocalhost:9/',
  'http://loca\u00adlhost:9/',
  'https://127.0.0.1:9/',
  'https://localhost:9/',
  'ftp://127.0.0.1:9/',
  'file:///etc/passwd',
  'unix:///tmp/s',
  '//127.0.0.1:9/',
  '127.0.0.1:9',
  'http:127.0.0.1:9',
  'http:/127.0.0.1:9/',
  'http:\\\\127.0.0.1:9\\',
  'http://127.0.0.1:9\\@evil.example/',
  'http://127.0.0.1:9/a\\b',
  'http://127.0.0.1\t:9/',
  'http://127.0.0.1:9/\r\nX: y',
  'http://127.0.0.1:9/ x',
  ' http://127.0.0.1:9/',
  'http://127.0.0.1:9/\u0000',
  'http://127.0.0.1:0/',
  'http://127.0.0.1:65536/',
  'http://127.0.0.1:-1/',
  'http://127.0.0.1:9evil/',
  'http://127.0.0.1:/',
  'http://192.0.2.1:9/',
  'http://evil.example/',
  'http://',
  '',
]
test.each(bad.map((url) => [url]))('%j', async (url) => {
  const { status, body } = await mailbox.post('/admin/listener', mailbox.operatorKey, { account: 'urls', url })
  expect({ status, kind: body.kind, field: body.field }).toEqual({ status: 400, kind: 'malformed', field: 'url' })
  expect(await listeners()).toEqual([])
})

test('the mailbox’s own port, under each name and spelling', async () => {
  for (const url of [
    `127.0.0.1:${mailbox.port}`,
    `localhost:${mailbox.port}`,
    `LOCALHOST:${mailbox.port}/x`,
    `127.0.0.1:0${mailbox.port}`,
  ]) {
    const request = { account: 'urls', url: `http://${url}` }
    const { status, body } = await mailbox.post('/admin/listener', mailbox.operatorKey, request)
    expect({ url, status, kind: body.kind, field: body.field }).toEqual({
      url,
      status: 400,
      kind: 'malformed',
      field: 'url',
    })
  }
})

test('longer than 512 bytes', async () => {
  const url = `http://127.0.0.1:9/${'x'.repeat(494)}`
  const { status, body } = await mailbox.post('/admin/listener', mailbox.operatorKey, { account: 'urls', url })
  expect({ status, ...body }).toMatchObject({ status: 400, kind: 'too_large', field: 'url', limit: 512, actual: 513 })
})

test.each([
  ['http://127.0.0.1:9'],
  ['http://localhost:9/a/b?c=d#e'],
  ['http://127.0.0.1/'],
  ['http://LocalHost:65535/'],
])('accepted: %s', async (url) => {
  await mailbox.admin('listener', { account: 'urls', url })
  expect(await listeners()).toMatchObject([{ account: 'urls', url }])
  await mailbox.admin('listener/remove', { account: 'urls' })
  expect(await listeners()).toEqual([])
})
