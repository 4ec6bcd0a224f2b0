// Pages of a full mailbox: within the budget as the bytes were sent, each letter exactly once, also while more arrive.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Mailbox } from './support/mailbox.ts'
import { accepted, Wire, type WireAnswer } from './support/wire.ts'

const BUDGET = 40_000
const LETTERS = 500
/** 20 KB, of which every byte of text counts: quotes and line breaks are twice as long as JSON, umlauts are two bytes. */
const TEXTS = [
  'x'.repeat(20_000),
  '"\n'.repeat(5_000) + 'y'.repeat(10_000),
  'ü'.repeat(10_000),
  '\u2028🙂'.repeat(2_857),
]

let mailbox: Mailbox
let wire: Wire
const tokens: Record<string, string> = {}
beforeAll(async () => {
  mailbox = await Mailbox.start()
  wire = await Wire.open(mailbox.port)
  for (const name of ['ann', 'bob', 'big', 'small', 'mixed']) tokens[name] = await mailbox.account(name)
})
afterAll(() => mailbox[Symbol.asyncDispose]())

type Shown = { message_id: string; body: string; body_truncated?: boolean; body_bytes?: number }

async function send(to: string, body: string, through: Wire = wire): Promise<string> {
  const request = { to, subject: 's', body }
  return (await accepted(through.post('/mail/send', tokens.ann!, request))).message_id
}

async function page(name: string, request: object = {}): Promise<WireAnswer & { messages: Shown[] }> {
  const answer = await wire.post('/mail/inbox', tokens[name]!, request)
  expect(answer.status).toBe(200)
  return { ...answer, messages: answer.body.messages }
}

/** All pages, one after the other; `check` looks at each. */
async function pages(
  name: string,
  request: object,
  check: (answer: WireAnswer) => unknown,
  from: string | null = null,
): Promise<Shown[]> {
  const shown: Shown[] = []
  for (let cursor = from; ; ) {
    const answer: WireAnswer & { messages: Shown[] } = await page(name, { ...request, ...(cursor ? { cursor } : {}) })
    await check(answer)
    shown.push(...answer.messages)
    cursor = answer.body.cursor
    if (!answer.body.has_more) return shown
    expect(answer.messages.length).toBeGreaterThan(0)
  }
}

describe(`${LETTERS} letters of 20 KB`, () => {
  const sent = new Map<string, string>()
  beforeAll(async () => {
    const wires = await Wire.many(mailbox.port, 8)
    await Promise.all(
      wires.map(async (through, own) => {
        for (let index = own; index < LETTERS; index += wires.length) {
          const body = TEXTS[index % TEXTS.length]!
          sent.set(await send('bob', body, through), body)
        }
        through.cut()
      }),
    )
  }, 60_000)

  test('an answer without parameters is at most 40,000 bytes as sent, and says that there is more', async () => {
    const answer = await page('bob')
    expect(answer.bytes).toBe(Buffer.byteLength(answer.text))
    expect(answer.bytes).toBeLessThanOrEqual(BUDGET)
    expect(answer.messages.length).toBeGreaterThan(0)
    expect(answer.body).toMatchObject({ has_more: true, unread: LETTERS })
  })

  test('also over MCP, as the text that a model gets', async () => {
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'm4a_mail_inbox', arguments: {} } }
    const { body } = await wire.post('/mcp', tokens.bob!, call, { 'mcp-protocol-version': '2025-11-25' })
    expect(Buffer.byteLength(body.result.content[0].text)).toBeLessThanOrEqual(BUDGET)
  })

  test('paging shows each exactly once and whole, in order, while more arrive', async () => {
    const late = new Map<string, string>()
    let paging = true
    const senders = (await Wire.many(mailbox.port, 4)).map(async (sender, own) => {
      for (let index = 0; paging; index++) {
        const body = `late ${own} ${index}`
        late.set(await send('bob', body, sender), body)
        await Bun.sleep(5)
      }
      sender.cut()
    })
    const keepsTo = (answer: WireAnswer) => expect(answer.bytes).toBeLessThanOrEqual(BUDGET)
    let end: string | null = null
    const shown = await pages('bob', {}, (answer) => {
      end = answer.body.cursor
      // by then the reader has caught up with those who still write
      if (answer.body.messages.at(-1)?.body.startsWith('late')) paging = false
      return keepsTo(answer)
    })
    paging = false
    await Promise.all(senders)
    shown.push(...(await pages('bob', {}, keepsTo, end)))
    const ids = shown.map((one) => one.message_id)
    expect(ids).toEqual([...ids].sort())
    expect(new Set(ids).size).toBe(ids.length)
    expect(new Set(ids)).toEqual(new Set([...sent.keys(), ...late.keys()]))
    expect(late.size).toBeGreaterThan(20)
    for (const { message_id, body, body_truncated } of shown) {
      expect(body_truncated).toBeUndefined()
      if (body !== (sent.get(message_id) ?? late.get(message_id))) throw new Error(`another body in ${message_id}`)
    }
  }, 60_000)

  test.each([[1], [7], [50], [256]])(
    'limit %i with a great budget',
    async (limit) => {
      const shown = await pages('bob', { limit, max_bytes: 1_000_000 }, (answer) => {
        expect(answer.body.messages.length).toBeLessThanOrEqual(limit)
        expect(answer.bytes).toBeLessThanOrEqual(1_000_000)
      })
      expect(new Set(shown.map((one) => one.message_id)).size).toBe(shown.length)
      expect(shown.length).toBeGreaterThanOrEqual(LETTERS)
    },
    60_000,
  )

  test.each([[2_000], [5_000], [25_000], [100_000]])('max_bytes %i is kept to', async (max_bytes) => {
    const answer = await page('bob', { max_bytes })
    expect(answer.bytes).toBeLessThanOrEqual(max_bytes)
    expect(answer.messages.length).toBeGreaterThan(0)
  })

  test.each([
    ['sent', {}],
    ['search', { query: 'x*' }],
  ])('%s keeps to the budget, too', async (op, request) => {
    const answer = await wire.post(`/mail/${op}`, tokens.ann!, request)
    expect(answer.status).toBe(200)
    expect(answer.bytes).toBeLessThanOrEqual(BUDGET)
  })

  test.each([
    ['limit', 0],
    ['limit', 1.5],
    ['limit', '5'],
    ['max_bytes', 1_999],
    ['cursor', 'nonsense'],
  ])('%s %p is refused by its name', async (field, value) => {
    const { status, body } = await wire.post('/mail/inbox', tokens.bob!, { [field]: value })
    expect({ status, kind: body.kind, field: body.field }).toEqual({ status: 400, kind: 'malformed', field })
  })

  test.each([
    ['limit', 256],
    ['max_bytes', 1_000_000],
  ])('%s above %i is refused with the limit', async (field, limit) => {
    const { status, body } = await wire.post('/mail/inbox', tokens.bob!, { [field]: limit + 1 })
    expect({ status, ...body }).toMatchObject({ status: 400, kind: 'too_large', field, limit, actual: limit + 1 })
  })
})

describe('a body of 65,536 bytes', () => {
  const whole = {
    ascii: 'a'.repeat(65_536),
    // 4 bytes each, so that a cut in the middle of one would show
    emoji: '🙂'.repeat(16_384),
    quotes: '"'.repeat(65_536),
    control: '\u0001'.repeat(65_536),
  }

  test.each(Object.entries(whole))('%s: a preview alone on its page, the whole by get', async (_name, body) => {
    const message_id = await send('big', body)
    const after = await send('big', 'after it')
    const first = await page('big')
    expect(first.bytes).toBeLessThanOrEqual(BUDGET)
    const [shown, ...others] = first.messages
    expect(others).toEqual([])
    expect(shown).toMatchObject({ message_id, body_truncated: true, body_bytes: 65_536 })
    expect(body.startsWith(shown!.body)).toBe(true)
    expect(shown!.body.length).toBeGreaterThan(1_000)
    expect(shown!.body.isWellFormed()).toBe(true)
    const second = await page('big', { cursor: first.body.cursor })
    expect(second.messages.map((one) => one.message_id)).toEqual([after])
    const got = await accepted(wire.post('/mail/get', tokens.big!, { message_id }))
    expect(got.body === body).toBe(true)
    expect(got.body_truncated).toBeUndefined()
    for (const id of [message_id, after]) await accepted(wire.post('/mail/ack', tokens.big!, { message_id: id }))
  })

  test('one byte more is refused with the limit, and nothing is stored', async () => {
    const request = { to: 'big', subject: 's', body: 'a'.repeat(65_537) }
    const { status, body } = await wire.post('/mail/send', tokens.ann!, request)
    expect({ status, ...body }).toMatchObject({ kind: 'too_large', field: 'body', limit: 65_536, actual: 65_537 })
    expect((await page('big')).messages).toEqual([])
  })
})

test('what is acknowledged while paging does not shift what comes', async () => {
  const ids: string[] = []
  for (let index = 0; index < 60; index++) ids.push(await send('mixed', `letter ${index}`))
  const shown = await pages('mixed', { limit: 7 }, async (answer) => {
    for (const { message_id } of answer.body.messages)
      await accepted(wire.post('/mail/ack', tokens.mixed!, { message_id }))
  })
  expect(shown.map((one) => one.message_id)).toEqual(ids)
  expect((await page('mixed')).body).toMatchObject({ messages: [], unread: 0, has_more: false })
})

test('an empty mailbox: no cursor, nothing more; the request’s cursor comes back', async () => {
  expect((await page('small')).body).toMatchObject({ messages: [], has_more: false, cursor: null, unread: 0 })
  const id = await send('small', 'only one')
  const first = await page('small')
  expect(first.messages.map((one) => one.message_id)).toEqual([id])
  const second = await page('small', { cursor: first.body.cursor })
  expect(second.body).toMatchObject({ messages: [], has_more: false, cursor: first.body.cursor })
})
