// The client: where it sends a token, what it makes of answers, and what it never repeats.
import { afterAll, expect, test } from 'bun:test'
import { createServer, type Socket } from 'node:net'
import { MailClient } from '../../../src/client/client.ts'
import { readEvents } from '../../../src/client/events.ts'
import { Refusal } from '../../../src/wire/refusal.ts'
import { refusalOf } from '../door/support.ts'

const stops: (() => void)[] = []
afterAll(() => {
  for (const stop of stops) stop()
})

function serve(answer: (request: Request) => Response | Promise<Response>): string {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer })
  stops.push(() => void server.stop(true))
  return `http://127.0.0.1:${server.port}`
}
const clientOf = (base: string) => new MailClient({ base, token: 'secret' })

test.each([
  'http://example.com',
  'https://127.0.0.1',
  'http://127.0.0.1.evil.example',
  'http://evil@127.0.0.1:1',
  'http://10.0.0.1:18301',
  'nonsense',
])('no token goes to %s', (base) => {
  expect(() => clientOf(base)).toThrow(Refusal)
})

test('proxy variables are not heeded', async () => {
  const hits: string[] = []
  const proxy = serve((request) => {
    hits.push(request.url)
    return new Response()
  })
  const base = serve(() => Response.json({ service: 'mail4agent', ok: true }))
  const script = `import { MailClient } from '${import.meta.dir}/../../../src/client/client.ts'
    console.log((await new MailClient({ base: '${base}', token: 't' }).health()).ok)
    process.exit()`
  const env = { ...process.env, HTTP_PROXY: proxy, http_proxy: proxy, ALL_PROXY: proxy, NO_PROXY: '', no_proxy: '' }
  const child = Bun.spawn([process.execPath, '-e', script], { env, stderr: 'ignore' })
  expect(await new Response(child.stdout).text()).toBe('true\n')
  expect(hits).toEqual([])
})

test('a refusal comes back as one, with its facts', async () => {
  const base = serve(() => Response.json(new Refusal('claimed', 'taken', { claimed_by: 'a/s-1' }), { status: 409 }))
  const refusal = await refusalOf(clientOf(base).call('ack', { message_id: 'm4a_' }))
  expect(refusal.toJSON()).toMatchObject({ kind: 'claimed', message: 'taken', claimed_by: 'a/s-1' })
  expect(refusal.exit).toBe(1)
})

test('another program on that port is not the mailbox', async () => {
  const base = serve(() => new Response('<html>', { status: 404 }))
  const refusal = await refusalOf(clientOf(base).call('whoami', {}))
  expect([refusal.kind, refusal.exit]).toEqual(['daemon_unreachable', 3])
  expect((await refusalOf(clientOf(base).health())).kind).toBe('daemon_unreachable')
})

test('nobody there, no answer in time, and a call that is given up', async () => {
  expect((await refusalOf(clientOf('http://127.0.0.1:1').health())).kind).toBe('daemon_unreachable')
  expect((await refusalOf(new MailClient({ socket: '/nonexistent/s', token: 't' }).health())).kind).toBe(
    'daemon_unreachable',
  )
  const slow = serve(() => new Promise(() => {}))
  expect((await refusalOf(clientOf(slow).call('whoami', {}, { timeoutMs: 50 }))).kind).toBe('daemon_unreachable')
  const gone = AbortSignal.timeout(50)
  expect(
    await clientOf(slow)
      .call('whoami', {}, { signal: gone })
      .catch((error) => error),
  ).toBe(gone.reason)
})

test('health needs no token and sends none; the rest sends it', async () => {
  const seen: (string | null)[] = []
  const base = serve((request) => {
    seen.push(request.headers.get('authorization'))
    return Response.json({ service: 'mail4agent' })
  })
  await clientOf(base).health()
  await clientOf(base).call('whoami', {})
  expect(seen).toEqual([null, 'Bearer secret'])
})

test('a kept connection that breaks: a read is repeated, a send without a key is not', async () => {
  const requests: string[] = []
  const answer = (socket: Socket) =>
    socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}')
  const server = createServer((socket) => {
    let served = 0
    socket.on('error', () => {})
    socket.on('data', (data) => {
      requests.push(String(data).split(' ')[1] ?? '')
      if (served++ === 0) answer(socket)
      else socket.resetAndDestroy() // the second request on a connection meets its end
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.push(() => server.close())
  const address = server.address()
  const client = clientOf(`http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`)

  await client.call('whoami', {})
  await client.call('whoami', {})
  expect(requests).toEqual(['/mail/whoami', '/mail/whoami', '/mail/whoami'])
  const refusal = await refusalOf(client.call('send', { to: 'a', subject: 's', body: 'b' }))
  expect(refusal.kind).toBe('daemon_unreachable')
  expect(requests.filter((path) => path === '/mail/send')).toHaveLength(1)
  client.close()
})

test('events and positions are put together from any pieces', async () => {
  const text =
    'retry: 1000\nid: a.1\n\nid: a.2\nevent: sent\ndata: {"kind":"sent","message_id":"m","at":"t"}\n\n: still here\nid: a.3\n\n'
  async function* pieces(size: number) {
    const bytes = new TextEncoder().encode(text)
    for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size)
  }
  for (const size of [1, 7, 1000]) {
    expect(await Array.fromAsync(readEvents(pieces(size)))).toEqual([
      { cursor: 'a.1', kind: 'position' },
      { cursor: 'a.2', kind: 'sent', message_id: 'm', at: 't' },
      { cursor: 'a.3', kind: 'position' },
    ])
  }
})
