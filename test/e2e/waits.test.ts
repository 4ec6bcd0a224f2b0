// Waiting for mail: ends on time at every door, is woken by mail and by nothing else, and leaves nothing behind.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createConnection } from 'node:net'
import { Mailbox } from './support/mailbox.ts'
import { accepted, Wire, type WireAnswer } from './support/wire.ts'

let mailbox: Mailbox
const tokens: Record<string, string> = {}
beforeAll(async () => {
  mailbox = await Mailbox.start()
  for (const name of ['ann', 'quiet', 'crowd', 'gone', 'racer', 'cursor', 'late', 'member', 'other'])
    tokens[name] = await mailbox.account(name)
})
afterAll(() => mailbox[Symbol.asyncDispose]())

const inbox = (wire: Wire, name: string, request: object) => wire.post('/mail/inbox', tokens[name]!, request)

async function sendTo(wire: Wire, to: string, body = 'b'): Promise<string> {
  return (await accepted(wire.post('/mail/send', tokens.ann!, { to, subject: 's', body }))).message_id
}

/** Seconds that `work` takes. */
async function timed<T>(work: Promise<T>): Promise<{ answer: T; secs: number }> {
  const began = performance.now()
  const answer = await work
  return { answer, secs: (performance.now() - began) / 1000 }
}

async function waitingOn(target: string): Promise<number> {
  const { body } = await mailbox.post('/mail/ping', tokens.ann!, { target })
  return Number(body.waiting)
}

async function waitingReaders(): Promise<number> {
  const headers = { authorization: `Bearer ${mailbox.operatorKey}` }
  const text = await (await fetch(`${mailbox.url}/metrics`, { headers })).text()
  return Number(/^m4a_waiting_readers (\d+)$/m.exec(text)?.[1])
}

/** Looks until `count` readers are parked on `target`; how many there are when it gives up. */
async function parked(target: string, count: number): Promise<number> {
  for (let tries = 0; tries < 500; tries++) {
    if ((await waitingOn(target)) === count) return count
    await Bun.sleep(20)
  }
  return waitingOn(target)
}

const mcp = (args: object, id = 1) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'm4a_mail_inbox', arguments: args },
})

describe.concurrent('a wait without mail ends at its time', () => {
  /** `asked` seconds; it has to end at `held`. */
  const cases: [door: string, asked: number, held: number][] = [
    ['http', 1, 1],
    ['http', 30, 30],
    ['http', 55, 55],
    ['http', 60, 60],
    ['http', 120, 60],
    ['http', 65_535, 60],
    ['mcp', 30, 30],
    ['mcp', 50, 50],
    ['mcp', 60, 50],
    ['mcp', 65_535, 50],
  ]
  test.each(cases)(
    '%s: %i s are held for %i',
    async (door, asked, held) => {
      const wire = await Wire.open(mailbox.port)
      const work =
        door === 'http'
          ? inbox(wire, 'quiet', { wait_secs: asked })
          : wire.post('/mcp', tokens.quiet!, mcp({ wait_secs: asked }), { 'mcp-protocol-version': '2025-11-25' })
      const { answer, secs } = await timed(work)
      expect(answer.status).toBe(200)
      const body = door === 'http' ? answer.body : answer.body.result.structuredContent
      expect(body.messages).toEqual([])
      expect(secs).toBeGreaterThanOrEqual(held - 0.01)
      expect(secs).toBeLessThan(held + 3)
      expect(body.waited_secs).toBeGreaterThanOrEqual(held - 0.01)
      expect(body.waited_secs).toBeLessThan(held + 3)
      wire.cut()
    },
    75_000,
  )

  test('mcp: the waits of one batch share one cap', async () => {
    const wire = await Wire.open(mailbox.port)
    const batch = [mcp({ wait_secs: 60 }, 1), mcp({ wait_secs: 60 }, 2), mcp({ wait_secs: 60 }, 3)]
    const headers = { 'mcp-protocol-version': '2025-03-26' }
    const { answer, secs } = await timed(wire.post('/mcp', tokens.quiet!, batch, headers))
    expect(answer.body).toHaveLength(3)
    expect(secs).toBeGreaterThanOrEqual(49.9)
    expect(secs).toBeLessThan(53)
    wire.cut()
  }, 75_000)

  test('mcp, modern era: 60 s are held for 50', async () => {
    const wire = await Wire.open(mailbox.port)
    const message = mcp({ wait_secs: 60 })
    const version = '2026-07-28'
    const meta = {
      'io.modelcontextprotocol/protocolVersion': version,
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const request = { ...message, params: { ...message.params, _meta: meta } }
    const headers = { 'mcp-protocol-version': version, 'mcp-method': 'tools/call', 'mcp-name': 'm4a_mail_inbox' }
    const { answer, secs } = await timed(wire.post('/mcp', tokens.quiet!, request, headers))
    expect(answer.body.result.structuredContent).toMatchObject({ messages: [], waited_secs: expect.any(Number) })
    expect(secs).toBeGreaterThanOrEqual(49.9)
    expect(secs).toBeLessThan(53)
    wire.cut()
  }, 75_000)
})

test('one send answers 1,000 parked readers', async () => {
  const wires = await Wire.many(mailbox.port, 1_000)
  const answers = wires.map((wire) => inbox(wire, 'crowd', { wait_secs: 60 }))
  expect(await parked('crowd', 1_000)).toBe(1_000)
  const sender = await Wire.open(mailbox.port)
  const began = performance.now()
  const id = await sendTo(sender, 'crowd')
  const sent = performance.now() - began
  const all = await Promise.all(answers)
  const took = performance.now() - began
  for (const { status, body } of all) {
    expect(status).toBe(200)
    expect(body.messages.map((one: { message_id: string }) => one.message_id)).toEqual([id])
  }
  console.log(`1,000 readers: the send took ${sent.toFixed(1)} ms, all were answered after ${took.toFixed(1)} ms`)
  expect(took).toBeLessThan(5_000)
  expect(await waitingOn('crowd')).toBe(0)
  for (const wire of [...wires, sender]) wire.cut()
}, 60_000)

test.each([['http'], ['mcp'], ['socket']])(
  '%s: a client that leaves frees its waiter, and was told of no mail',
  async (door) => {
    const before = await waitingReaders()
    const wires = await Wire.many(door === 'socket' ? mailbox.socket : mailbox.port, 20)
    const headers = { 'mcp-protocol-version': '2025-11-25' }
    const gone = wires.map((wire) =>
      (door === 'mcp'
        ? wire.post('/mcp', tokens.gone!, mcp({ wait_secs: 50 }), headers)
        : inbox(wire, 'gone', { wait_secs: 60 })
      ).catch(() => null),
    )
    expect(await parked('gone', 20)).toBe(20)
    expect(await waitingReaders()).toBe(before + 20)
    for (const wire of wires) wire.cut()
    expect(await Promise.all(gone)).toEqual(gone.map(() => null))
    expect(await parked('gone', 0)).toBe(0)
    expect(await waitingReaders()).toBe(before)
    const wire = await Wire.open(mailbox.port)
    const message_id = await sendTo(wire, 'gone')
    const { receipts } = await accepted(wire.post('/mail/receipts', tokens.ann!, { message_id }))
    expect(receipts[0].deliveries[0].notified_at).toBeUndefined()
    await accepted(inbox(wire, 'gone', {}))
    wire.cut()
  },
  30_000,
)

test('a wait that begins after the mail came is answered at once; once it was given, only by newer mail', async () => {
  const wire = await Wire.open(mailbox.port)
  const id = await sendTo(wire, 'late')
  const first = await timed(accepted(inbox(wire, 'late', { wait_secs: 20 })))
  expect(first.answer.messages[0].message_id).toBe(id)
  expect(first.answer.waited_secs).toBe(0)
  expect(first.secs).toBeLessThan(2)
  const second = await timed(accepted(inbox(wire, 'late', { wait_secs: 1 })))
  expect(second.answer.messages).toEqual([])
  expect(second.secs).toBeGreaterThan(0.9)
  wire.cut()
})

test('neither an own room post nor an ack, a get or a receipt ends a wait; another member’s post does', async () => {
  await mailbox.admin('room', { id: 'hall' })
  for (const participant of ['member', 'other']) await mailbox.admin('room/member/add', { room: 'hall', participant })
  const [waiter, wire] = await Wire.many(mailbox.port, 2)
  const earlier = await sendTo(wire!, 'member')
  await accepted(inbox(wire!, 'member', {}))
  const held = timed(accepted(inbox(waiter!, 'member', { wait_secs: 30 })))
  let ended = false
  void held.then(() => {
    ended = true
  })
  expect(await parked('member', 1)).toBe(1)
  const post = { to: '#hall', subject: 's', body: 'own' }
  await accepted(wire!.post('/mail/send', tokens.member!, post))
  await accepted(wire!.post('/mail/get', tokens.member!, { message_id: earlier }))
  await accepted(wire!.post('/mail/ack', tokens.member!, { message_id: earlier }))
  await Bun.sleep(1_000)
  expect(ended).toBe(false)
  const theirs = await accepted(wire!.post('/mail/send', tokens.other!, { ...post, body: 'theirs' }))
  const { answer } = await held
  expect(answer.messages.map((one: { message_id: string }) => one.message_id)).toEqual([theirs.message_id])
  waiter!.cut()
  wire!.cut()
}, 30_000)

describe('no wake-up is lost', () => {
  test.each([['racer'], ['cursor']])(
    '%s: 500 sends, each racing with the wait for it',
    async (name) => {
      const [waiter, sender] = await Wire.many(mailbox.port, 2)
      let cursor: string | null = null
      let slowest = 0
      for (let pair = 0; pair < 500; pair++) {
        // from well before the wait to well after it
        const lead = (pair % 25) / 10 - 1
        const request: object = { wait_secs: 20, ...(name === 'cursor' && cursor ? { cursor } : {}) }
        const send = (async () => {
          if (lead > 0) await Bun.sleep(lead)
          return sendTo(sender!, name)
        })()
        if (lead < 0) await Bun.sleep(-lead)
        const [id, { answer, secs }]: [string, { answer: any; secs: number }] = await Promise.all([
          send,
          timed(accepted(inbox(waiter!, name, request))),
        ])
        expect(answer.messages.map((one: { message_id: string }) => one.message_id)).toEqual([id])
        cursor = answer.cursor
        slowest = Math.max(slowest, secs)
        expect(secs).toBeLessThan(5)
      }
      console.log(`${name}: the slowest of 500 took ${(1_000 * slowest).toFixed(1)} ms`)
      waiter!.cut()
      sender!.cut()
    },
    60_000,
  )
})

describe('at SIGTERM', () => {
  test('100 parked readers are answered and the mailbox ends within 2 s; then the wait goes on where it was', async () => {
    const [overTcp, overSocket] = [await Wire.many(mailbox.port, 75), await Wire.many(mailbox.socket, 25)]
    const headers = { 'mcp-protocol-version': '2025-11-25' }
    const answers = [
      ...overTcp.map((wire, index) =>
        index % 3 === 2
          ? wire.post('/mcp', tokens.quiet!, mcp({ wait_secs: 50 }), headers)
          : inbox(wire, 'quiet', { wait_secs: 60 }),
      ),
      ...overSocket.map((wire) => inbox(wire, 'quiet', { wait_secs: 60 })),
    ]
    // the MCP ones read the same account
    expect(await parked('quiet', 100)).toBe(100)
    // what else may be open: connections that say nothing, half a request, streams
    const idle = [...(await Wire.many(mailbox.port, 20)), ...(await Wire.many(mailbox.socket, 20))]
    const half = createConnection({ host: '127.0.0.1', port: mailbox.port }).on('error', () => {})
    half.write('POST /mail/send HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n\r\n{')
    const stream = { headers: { authorization: `Bearer ${tokens.quiet}` } }
    const streams = await Promise.all([1, 2, 3].map(() => fetch(`${mailbox.url}/events`, stream)))
    const ends = streams.map((response) => response.text().catch(() => 'cut'))

    const [{ code, ms }, all] = await Promise.all([mailbox.down('SIGTERM'), Promise.all(answers)])
    expect(code).toBe(0)
    expect(ms).toBeLessThan(2_000)
    const bodies = all.map(({ body }: WireAnswer) => body.result?.structuredContent ?? body)
    for (const body of bodies) expect(body).toMatchObject({ messages: [], waited_secs: expect.any(Number) })
    expect(await Promise.all(ends)).not.toContain('cut')
    console.log(`SIGTERM with 100 parked readers: ended after ${ms.toFixed(0)} ms`)
    for (const wire of idle) wire.cut()
    half.destroy()

    await mailbox.up()
    const [wire, sender] = await Wire.many(mailbox.port, 2)
    const held = inbox(wire!, 'quiet', { wait_secs: 20 })
    const id = await sendTo(sender!, 'quiet')
    expect((await accepted(held)).messages[0].message_id).toBe(id)
    wire!.cut()
    sender!.cut()
  }, 30_000)

  test('a send is answered or not stored, and never stored half; a second signal does not hurt', async () => {
    const wires = await Wire.many(mailbox.port, 32)
    const answered = new Set<string>()
    let serial = 0
    const senders = wires.map(async (wire) => {
      for (;;) {
        const request = { to: 'late', subject: 's', body: `at the end ${serial++}` }
        const answer = await wire.post('/mail/send', tokens.ann!, request).catch(() => null)
        if (answer?.status === 200) answered.add(answer.body.message_id)
        else if (answer?.body.kind !== 'rate_limited') return
      }
    })
    while (answered.size < 200) await Bun.sleep(5)
    const { daemon } = mailbox
    const ended = mailbox.down('SIGTERM')
    daemon.kill('SIGTERM')
    const { code, ms } = await ended
    expect([code, ms < 2_000]).toEqual([0, true])
    await Promise.all(senders)
    await mailbox.up()
    const wire = await Wire.open(mailbox.port)
    const stored = new Set<string>()
    for (let cursor: string | undefined; ; ) {
      const request = { state: 'all', limit: 256, max_bytes: 1_000_000, ...(cursor ? { cursor } : {}) }
      const page = await accepted(inbox(wire, 'late', request))
      for (const { message_id } of page.messages) stored.add(message_id)
      cursor = page.cursor
      if (!page.has_more) break
    }
    expect([...answered].filter((id) => !stored.has(id))).toEqual([])
    wire.cut()
  }, 30_000)
})
