// The page's routes at the door, run from source: its files, the headers they carry, and logging in over plain HTTP.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Office } from '../support.ts'

let office: Office
beforeAll(async () => {
  office = await Office.open('claude')
})
afterAll(() => office[Symbol.asyncDispose]())

const post = async (path: string, body: unknown, authorization?: string) => {
  const headers = { 'content-type': 'application/json', ...(authorization ? { authorization } : {}) }
  const answer = await office.fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

test('the page and what it refers to, without a bearer, under a strict policy', async () => {
  const page = await office.fetch('/ui')
  expect(page.status).toBe(200)
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  const html = await page.text()
  const files = [...html.matchAll(/(?:src|href)="(\/ui\/[^"]+)"/g)].map(([, path]) => path ?? '')
  expect(files.map((path) => path.replace(/.*\./, '')).sort()).toEqual(['css', 'js'])
  expect(html).not.toMatch(/<script(?![^>]*src)|\bon[a-z]+=|style=/)
  for (const path of ['/ui', ...files]) {
    const answer = await office.fetch(path)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-security-policy')).toStartWith("default-src 'none'; script-src 'self';")
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(await answer.text()).not.toContain('https://')
  }
})

test('other names below it are none, and a wrong method is told so', async () => {
  for (const path of ['/ui/', '/ui/nothing.js', '/ui/..%2f..%2fdaemon.json', '/ui/page/main.tsx'])
    expect((await office.fetch(path)).status).toBe(path === '/ui/' ? 200 : 404)
  expect((await office.fetch('/ui/login')).status).toBe(405)
  expect((await post('/ui', {})).status).toBe(405)
})

test('a host or an origin of somebody else gets nothing', async () => {
  expect((await office.fetch('/ui', { headers: { host: 'evil.test' } })).status).toBe(403)
  expect((await office.fetch('/ui', { headers: { origin: 'http://127.0.0.1:1' } })).status).toBe(403)
})

test('a link, a key, and what the key may do', async () => {
  const token = `Bearer ${office.token('operator')}`
  const link = String((await post('/ui/link', {}, token)).body.url)
  const secret = link.slice(link.indexOf('=') + 1)
  expect(link).toStartWith(`http://127.0.0.1:${office.daemon.port}/ui#login=`)
  const { status, body } = await post('/ui/login', { secret })
  expect({ status, account: body.account }).toEqual({ status: 200, account: 'operator' })
  const key = `Bearer ${body.key}`
  expect(await post('/ui/login', { secret })).toMatchObject({ status: 403, body: { kind: 'login_over' } })
  expect(await post('/mail/whoami', {}, key)).toMatchObject({ status: 200, body: { account: 'operator' } })
  expect(await post('/admin/traffic', {}, key)).toMatchObject({ status: 200 })
  expect(await post('/admin/participant', { id: 'mallory' }, key)).toMatchObject({ status: 403 })
  expect(await post('/ui/link', {}, key)).toMatchObject({ status: 403 })
  expect(await post('/ui/logout', {}, key)).toEqual({ status: 200, body: { ended: 1 } })
  expect(await post('/mail/whoami', {}, key)).toMatchObject({ status: 401, body: { kind: 'unauthenticated' } })
})

test('no link without a token, for an agent’s account, or with fields that nobody knows', async () => {
  expect(await post('/ui/link', {})).toMatchObject({ status: 401 })
  const claude = `Bearer ${office.token('claude')}`
  expect(await post('/ui/link', {}, claude)).toMatchObject({ status: 403, body: { kind: 'permission_denied' } })
  const operator = `Bearer ${office.token('operator')}`
  expect(await post('/ui/link', { for: 1 }, operator)).toMatchObject({ status: 400, body: { kind: 'malformed' } })
  expect(await post('/ui/login', { secret: 'short' })).toMatchObject({ status: 400, body: { kind: 'malformed' } })
})

test('a stream ends with its login', async () => {
  const link = await office.client('operator').ui('link', {})
  const { key } = await office.client('operator').ui('login', { secret: link.url.slice(link.url.indexOf('=') + 1) })
  const headers = { authorization: `Bearer ${key}` }
  const answer = await office.fetch('/events', { headers })
  const reader = answer.body?.getReader()
  await reader?.read()
  await office.client('operator').ui('logout', {})
  await office.client('claude').call('send', { to: 'operator', subject: 's', body: 'not for that stream' })
  let text = ''
  for (;;) {
    const next = await reader?.read()
    if (!next || next.done) break
    text += new TextDecoder().decode(next.value)
  }
  expect(text).not.toContain('event: sent')
})
