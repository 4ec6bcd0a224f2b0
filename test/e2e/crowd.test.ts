// Two hundred send to one mailbox at once while another process closes and replies: none is lost, none comes twice.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Actor } from './support/actor.ts'
import { Mailbox } from './support/mailbox.ts'
import { accepted, Wire } from './support/wire.ts'

setDefaultTimeout(120_000)

const SENDERS = 200
const EACH = 5

let mailbox: Mailbox
let sender: string
let reader: Actor
let token: string
beforeAll(async () => {
  mailbox = await Mailbox.start()
  sender = await mailbox.account('sender')
  token = await mailbox.account('reader')
  reader = await mailbox.actor(token)
})
afterAll(() => mailbox[Symbol.asyncDispose]())

test(`${SENDERS} at once`, async () => {
  const wires = await Wire.many(mailbox.port, SENDERS)
  const sent = new Map<string, string>()
  let over = false
  const sending = Promise.all(
    wires.map(async (wire, index) => {
      for (let round = 0; round < EACH; round++) {
        const body = `${index}.${round}`
        const request = { to: 'reader', subject: 'same for all', body, idempotency_key: body }
        sent.set((await accepted(wire.post('/mail/send', sender, request))).message_id, body)
      }
    }),
  ).then(() => {
    over = true
  })

  // the other process reads without a cursor, answers every third letter and closes the rest, in turns one by one and many at once
  const settled = new Map<string, 'closed' | 'replied'>()
  for (let turn = 0; ; turn++) {
    const wasOver = over
    const { messages } = await reader.ask('http', 'inbox', { limit: 100, max_bytes: 400_000 })
    const ids: string[] = messages.map((one: { message_id: string }) => one.message_id)
    for (const id of ids) expect(settled.has(id)).toBe(false)
    const replies = ids.filter((_, index) => index % 3 === 0)
    const closes = ids.filter((_, index) => index % 3 !== 0)
    const answered = replies.map((reply_to) =>
      reader.ask('http', 'send', { reply_to, body: `re ${reply_to}`, close: true }),
    )
    const closed =
      turn % 2 === 0
        ? closes.map((message_id) => reader.ask('http', 'ack', { message_id }))
        : closes.length > 0
          ? [reader.ask('http', 'close', { message_ids: closes })]
          : []
    await Promise.all([...answered, ...closed])
    for (const id of replies) settled.set(id, 'replied')
    for (const id of closes) settled.set(id, 'closed')
    if (wasOver && ids.length === 0) break
  }
  await sending

  expect(sent.size).toBe(SENDERS * EACH)
  expect([...settled.keys()].sort()).toEqual([...sent.keys()].sort())
  const [wire] = wires as [Wire]
  const shown = new Map<string, { body: string; state: string; close_reason: string }>()
  for (let cursor: string | null = null; ; ) {
    const request = { state: 'all', limit: 256, max_bytes: 1_000_000, ...(cursor ? { cursor } : {}) }
    const page = await accepted(wire.post('/mail/inbox', token, request))
    for (const one of page.messages) {
      expect(shown.has(one.message_id)).toBe(false)
      shown.set(one.message_id, one)
    }
    cursor = page.cursor
    if (!page.has_more) break
  }
  for (const [id, body] of sent) {
    const reason = settled.get(id) === 'replied' ? 'replied' : 'acknowledged'
    expect(shown.get(id)).toMatchObject({ body, state: 'closed', close_reason: reason })
  }
  // the answers went to the session that wrote: this process
  const answers: string[] = []
  for (let cursor: string | null = null; ; ) {
    const request = { state: 'all', limit: 256, max_bytes: 1_000_000, ...(cursor ? { cursor } : {}) }
    const page = await accepted(wire.post('/mail/inbox', sender, request))
    answers.push(...page.messages.map((one: { reply_to: string }) => one.reply_to))
    cursor = page.cursor
    if (!page.has_more) break
  }
  expect(answers.sort()).toEqual(
    [...settled]
      .filter(([, how]) => how === 'replied')
      .map(([id]) => id)
      .sort(),
  )
  for (const one of wires) one.cut()
})

test('five that close by a filter while mail comes in: each letter is closed by one of them, what came later stays', async () => {
  const wires = await Wire.many(mailbox.port, 8)
  const ids = new Set<string>()
  const flow = (async () => {
    for (let i = 0; i < 300; i++) {
      const wire = wires[i % 3] as Wire
      const { message_id } = await accepted(
        wire.post('/mail/send', sender, { to: 'reader', subject: 'noise', body: `${i}` }),
      )
      ids.add(message_id)
    }
  })()
  const closed: string[] = []
  const close = async (wire: Wire) => {
    const { results } = await accepted(wire.post('/mail/close_all', token, { subject: 'NOISE' }))
    closed.push(...results.map((one: { message_id: string }) => one.message_id))
  }
  for (let i = 0; i < 10; i++) await Promise.all(wires.slice(3).map(close))
  await flow
  await close(wires[7] as Wire)
  expect(new Set(closed)).toEqual(ids)
  const { body } = await mailbox.post('/mail/unread', token, {})
  expect(body.unread).toBe(0)
  for (const one of wires) one.cut()
})
