// Doorbells attacked at the binary: whatever a listener's URL says and however it answers, no send is late or fails, and
// nothing leaves the machine.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { answer, Bell, dripping, endless, type Manner, silent } from './support/bell.ts'
import { Mailbox } from './support/mailbox.ts'
import { strayConnections } from './support/sockets.ts'
import { accepted, Wire } from './support/wire.ts'

/** Below the burst of one pair, or the mail would be stored without ringing; and done before the first reminder, after 30 s. */
const SENDS = 30

let mailbox: Mailbox
let wire: Wire
let ann: string
let proxy: Bell
let trap: Bell
const environment: Record<string, string> = {}
const bells: Bell[] = []
const strays: string[] = []
let watch: Timer

async function bell(manner: Manner, port = 0): Promise<Bell> {
  const one = await Bell.start(manner, port)
  bells.push(one)
  return one
}

beforeAll(async () => {
  proxy = await bell(answer('200 OK'))
  trap = await bell(answer('200 OK'))
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'])
    for (const form of [name, name.toLowerCase()]) environment[form] = `http://127.0.0.1:${proxy.port}`
  mailbox = await Mailbox.start(environment)
  wire = await Wire.open(mailbox.port)
  ann = await mailbox.account('ann')
  watch = setInterval(() => {
    try {
      strays.push(...strayConnections(mailbox.daemon.pid))
    } catch {
      // between a stop and the next start
    }
  }, 200)
})
afterAll(async () => {
  clearInterval(watch)
  await mailbox[Symbol.asyncDispose]()
  for (const one of bells) one.stop()
})

const listen = async (account: string, url: string, more: object = {}): Promise<string> =>
  String((await mailbox.admin('listener', { account, url, ...more })).key)

async function send(to: string, body = 'the body', subject = 'the subject'): Promise<string> {
  return (await accepted(wire.post('/mail/send', ann, { to, subject, body }))).message_id
}

async function stateOf(account: string): Promise<any> {
  const { listeners } = (await mailbox.admin('listener/list', {})) as { listeners: any[] }
  return listeners.find((one) => one.account === account)
}

async function until(what: () => boolean | Promise<boolean>, ms = 8_000): Promise<boolean> {
  for (const end = performance.now() + ms; performance.now() < end; await Bun.sleep(10)) if (await what()) return true
  return what()
}

const median = (numbers: number[]): number => [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? 0

test('a ring: exactly account, address, id and sender, signed over its bytes; none of the letter; once each and in order', async () => {
  await mailbox.account('good')
  const good = await bell(answer('204 No Content'))
  const key = await listen('good', good.url)
  const ids: string[] = []
  for (let index = 0; index < SENDS; index++) ids.push(await send('good', `secret words ${index}`, `headline ${index}`))
  expect(await until(() => good.rings.length >= SENDS)).toBe(true)
  await Bun.sleep(200)
  expect(good.rings.map(({ body }) => JSON.parse(body).message_id)).toEqual(ids)
  for (const { line, headers, body } of good.rings) {
    expect(line).toBe('POST /bell?x=1 HTTP/1.1')
    expect(headers).toMatchObject({ host: `127.0.0.1:${good.port}`, 'content-type': 'application/json' })
    expect(headers['x-m4a-signature']).toBe(`sha256=${createHmac('sha256', key).update(body).digest('hex')}`)
    const said = JSON.parse(body)
    expect(Object.keys(said).sort()).toEqual(['account', 'from', 'message_id', 'to'])
    expect(said).toMatchObject({
      account: 'good',
      to: { kind: 'direct', participant: 'good' },
      from: { kind: 'session', participant: 'ann', session: expect.stringMatching(/^s-[0-9a-f]{32}$/) },
    })
    expect(line + JSON.stringify(headers) + body).not.toMatch(/secret words|headline/)
  }
  expect(await stateOf('good')).toMatchObject({ pending: 0, last_ok: expect.any(String), last_error: null })
  // a new key is signed with at once, the old one no more
  const next = await listen('good', good.url.replace('127.0.0.1', 'localhost'))
  expect(next).not.toBe(key)
  await send('good')
  expect(await until(() => good.rings.length === SENDS + 1)).toBe(true)
  const { headers, body } = good.rings.at(-1)!
  expect(headers['x-m4a-signature']).toBe(`sha256=${createHmac('sha256', next).update(body).digest('hex')}`)
}, 20_000)

test('a room post rings its members under the room’s address, and not its sender', async () => {
  await mailbox.admin('room', { id: 'hall' })
  const [one, own] = [await bell(answer('200 OK')), await bell(answer('200 OK'))]
  await mailbox.account('member')
  for (const participant of ['ann', 'member']) await mailbox.admin('room/member/add', { room: 'hall', participant })
  await listen('member', one.url)
  await listen('ann', own.url)
  const message_id = await send('#hall')
  expect(await until(() => one.rings.length === 1)).toBe(true)
  const said = JSON.parse(one.rings[0]!.body)
  expect(said).toMatchObject({ account: 'member', to: { kind: 'room', room: 'hall' }, message_id })
  await Bun.sleep(300)
  expect(own.rings).toEqual([])
  await mailbox.admin('listener/remove', { account: 'ann' })
})

describe('listeners that behave badly', () => {
  const off = 'http://192.0.2.1/'
  const manners: Record<string, () => Manner> = {
    redirect_301: () => answer('301 Moved', `Location: http://127.0.0.1:${trap.port}/\r\n`),
    redirect_302: () => answer('302 Found', `Location: ${off}\r\n`),
    redirect_307: () => answer('307 Temporary Redirect', `Location: http://127.0.0.1:${trap.port}/\r\n`),
    redirect_308: () => answer('308 Permanent Redirect', `Location: http://localhost:${trap.port}/\r\n`),
    other_place: () => answer('200 OK', `Location: http://127.0.0.1:${trap.port}/\r\nRefresh: 0; url=${off}\r\n`),
    auth: () => answer('401 Unauthorized', 'WWW-Authenticate: Basic realm="x"\r\n'),
    proxy_auth: () => answer('407 Proxy Authentication Required', 'Proxy-Authenticate: Basic realm="x"\r\n'),
    silent: () => silent,
    dripping: () => dripping('HTTP/1.1 200 OK\r\nX: y\r\n', 100),
    endless_body: () => endless('HTTP/1.1 200 OK\r\n\r\n', 'x'.repeat(65_536)),
    endless_head: () => endless('HTTP/1.1 200 OK\r\n', `X-Y: ${'z'.repeat(65_536)}\r\n`),
    endless_1xx: () => endless('', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1_000)),
    endless_noise: () => endless('', 'noise'.repeat(10_000)),
    reset: () => (socket) => socket.resetAndDestroy(),
    no_http: () => (socket) => socket.end('hello\r\n'),
  }
  const bad = new Map<string, Bell>()
  const latencies = new Map<string, number[]>()
  let fine: Bell
  let sentFine: number[]

  beforeAll(async () => {
    for (const [name, manner] of Object.entries(manners)) {
      await mailbox.account(name)
      const one = await bell(manner())
      bad.set(name, one)
      await listen(name, one.url)
    }
    await mailbox.account('down')
    const gone = await bell(silent)
    gone.stop()
    await listen('down', gone.url)
    await mailbox.account('nobody')
    await mailbox.account('fine')
    fine = await bell(answer('200 OK'))
    await listen('fine', fine.url)
  })

  test('never delay or fail a send', async () => {
    const names = ['nobody', 'down', ...bad.keys()]
    sentFine = []
    for (let round = 0; round < SENDS; round++)
      for (const name of names) {
        const began = performance.now()
        await send(name)
        latencies.set(name, [...(latencies.get(name) ?? []), performance.now() - began])
        if (name === 'nobody') {
          sentFine.push(performance.now())
          await send('fine')
        }
      }
    const quiet = median(latencies.get('nobody') ?? [])
    const table = names.map((name) => {
      const all = latencies.get(name) ?? []
      return { name, median: median(all), worst: Math.max(...all) }
    })
    console.log(table.map((one) => `${one.name} ${one.median.toFixed(2)} (${one.worst.toFixed(0)}) ms`).join(', '))
    for (const one of table) expect(one.median).toBeLessThan(3 * quiet + 10)
    // a send that waited for a listener would take seconds
    for (const one of table) expect(one.worst).toBeLessThan(1_500)
    for (const [name, one] of bad) expect([name, one.connections > 0]).toEqual([name, true])
  }, 60_000)

  test('nor the rings of others', async () => {
    expect(await until(() => fine.rings.length >= SENDS)).toBe(true)
    expect(fine.rings).toHaveLength(SENDS)
    const late = fine.rings.map((ring, index) => ring.at - (sentFine[index] ?? 0))
    expect(median(late)).toBeLessThan(300)
    expect(Math.max(...late)).toBeLessThan(2_000)
  })

  test('are given up in time, and are not listened to for long', async () => {
    expect(await until(() => ['silent', 'dripping'].every((name) => (bad.get(name)?.lasted.length ?? 0) > 0))).toBe(
      true,
    )
    for (const name of ['silent', 'dripping']) {
      const [first = 0] = bad.get(name)?.lasted ?? []
      expect(first).toBeLessThan(5_600)
    }
    for (const [name, one] of bad) {
      if (one.lasted.length === 0) continue
      expect([name, Math.max(...one.lasted) < 6_500]).toEqual([name, true])
      // what the kernel buffers of a loopback connection is some megabytes; endless would be hundreds
      expect([name, one.taken / one.lasted.length < 16_000_000]).toEqual([name, true])
    }
  }, 20_000)

  test('show as what they are in the list, and as nothing that they said', async () => {
    const expected: Record<string, RegExp> = {
      redirect_301: /301/,
      redirect_302: /302/,
      redirect_307: /307/,
      redirect_308: /308/,
      auth: /401/,
      proxy_auth: /407/,
      silent: /no answer in time/,
      down: /ECONNREFUSED/,
    }
    for (const [name, error] of Object.entries(expected)) {
      expect(await until(async () => (await stateOf(name)).last_error !== null)).toBe(true)
      const state = await stateOf(name)
      expect([name, state.last_error]).toEqual([name, expect.stringMatching(error)])
      expect(state.pending).toBeGreaterThan(0)
    }
    const all = JSON.stringify(await mailbox.admin('listener/list', {}))
    expect(all).not.toContain('192.0.2.1')
    expect(all).not.toMatch(/noisenoise|hello|realm/)
  }, 20_000)

  test('the mailbox is none the larger for it', () => {
    const status = Bun.file(`/proc/${mailbox.daemon.pid}/status`)
    return status.text().then((text) => {
      const resident = Number(/^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1]) / 1024
      expect(resident).toBeLessThan(400)
    })
  })
})

test('a stop does not wait for a listener that says nothing', async () => {
  await mailbox.account('mute')
  const mute = await bell(silent)
  await listen('mute', mute.url)
  await send('mute')
  expect(await until(() => mute.rings.length === 1)).toBe(true)
  const { code, ms } = await mailbox.down('SIGTERM')
  expect(code).toBe(0)
  expect(ms).toBeLessThan(2_000)
  await mailbox.up(environment)
  wire = await Wire.open(mailbox.port)
}, 20_000)

test('mail that nobody was rung for rings after a kill -9', async () => {
  await mailbox.account('later')
  const first = await bell(silent)
  const { port } = first
  await listen('later', first.url)
  first.stop()
  const id = await send('later')
  await mailbox.down('SIGKILL')
  const second = await bell(answer('200 OK'), port)
  await mailbox.up(environment)
  wire = await Wire.open(mailbox.port)
  expect(await until(() => second.rings.length > 0)).toBe(true)
  expect(JSON.parse(second.rings[0]!.body).message_id).toBe(id)
}, 20_000)

test('a listener on the port that the mailbox has today is not dialled', async () => {
  await mailbox.account('mirror')
  const spare = await bell(silent)
  await listen('mirror', spare.url)
  spare.stop()
  await mailbox.down('SIGTERM')
  const port = mailbox.port
  mailbox.port = spare.port
  await mailbox.up(environment)
  expect(mailbox.port).toBe(spare.port)
  wire = await Wire.open(mailbox.port)
  await send('mirror')
  expect(await until(async () => (await stateOf('mirror')).last_error !== null)).toBe(true)
  expect((await stateOf('mirror')).last_error).toContain('own port')
  const metrics = await fetch(`${mailbox.url}/metrics`, { headers: { authorization: `Bearer ${mailbox.operatorKey}` } })
  expect(await metrics.text()).not.toContain('not_found')
  expect(port).not.toBe(mailbox.port)
}, 20_000)

test('and in all that nothing left the machine, asked a proxy, followed a redirect or looked a name up', () => {
  expect(proxy.connections).toBe(0)
  expect(trap.connections).toBe(0)
  expect([...new Set(strays)]).toEqual([])
})

test('the watch for stray connections sees one', async () => {
  const child = Bun.spawn(
    [
      process.execPath,
      '-e',
      "require('node:net').connect(9, '192.0.2.1').on('error', () => {}); require('node:dgram').createSocket('udp4').bind(0); setTimeout(() => {}, 5000)",
    ],
    { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' },
  )
  expect(await until(() => strayConnections(child.pid).length > 0, 4_000)).toBe(true)
  child.kill('SIGKILL')
  await child.exited
})
