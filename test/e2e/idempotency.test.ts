// One idempotency key is one message: in parallel, from two processes, with other content, and over a kill of the mailbox.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Mailbox } from './support/mailbox.ts'
import { accepted, Wire, type WireAnswer } from './support/wire.ts'

let mailbox: Mailbox
let tokens: { ann: string; bob: string; cleo: string; twins: string }
beforeAll(async () => {
  mailbox = await Mailbox.start()
  tokens = {
    ann: await mailbox.account('ann'),
    bob: await mailbox.account('bob'),
    cleo: await mailbox.account('cleo'),
    // used by children only: a child of a session of its own account would be that session
    twins: await mailbox.account('twins'),
  }
})
afterAll(() => mailbox[Symbol.asyncDispose]())

/** An answer without what lies in the nature of a repetition: its mark, its time, and who seems to read there by now. */
function essence({ duplicate: _mark, now: _now, results, ...rest }: Record<string, any>) {
  return { ...rest, results: results.map(({ warning: _warning, ...result }: Record<string, unknown>) => result) }
}

async function bodiesOf(token: string): Promise<string[]> {
  const wire = await Wire.open(mailbox.port)
  const page = await accepted(wire.post('/mail/inbox', token, { state: 'all', limit: 256, max_bytes: 1_000_000 }))
  wire.cut()
  return page.messages.map((one: { body: string }) => one.body)
}

/** One POST on each connection, all written before any is answered. */
const all = (wires: readonly Wire[], requests: (index: number) => object): Promise<WireAnswer[]> =>
  Promise.all(wires.map((wire, index) => wire.post('/mail/send', tokens.ann, requests(index))))

test('50 parallel sends with one key are one message and 50 equal answers', async () => {
  const wires = await Wire.many(mailbox.port, 50)
  for (const key of ['first', 'second', 'third']) {
    const request = { to: ['bob', 'cleo'], subject: 's', body: `once ${key}`, idempotency_key: key }
    const answers = await all(wires, () => request)
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    const [original, ...others] = answers.filter(({ body }) => body.duplicate === undefined)
    expect(others).toEqual([])
    for (const { body } of answers) expect(essence(body)).toEqual(essence(original!.body))
    expect((await bodiesOf(tokens.bob)).filter((body) => body === `once ${key}`)).toHaveLength(1)
    expect((await bodiesOf(tokens.cleo)).filter((body) => body === `once ${key}`)).toHaveLength(1)
  }
  for (const wire of wires) wire.cut()
})

test('two processes of one account that send under one key: one message, of the one that was first', async () => {
  const actors = [await mailbox.actor(tokens.twins), await mailbox.actor(tokens.twins)]
  const addresses = await Promise.all(actors.map(async (one) => (await one.ask('http', 'whoami')).address_text))
  expect(new Set(addresses).size).toBe(2)
  const request = { to: 'bob', subject: 's', body: 'from either', idempotency_key: 'either' }
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => actors[index % 2]!.ask('http', 'send', request)),
  )
  const originals = answers.filter((answer) => answer.duplicate === undefined)
  expect(originals).toHaveLength(1)
  expect(addresses).toContain(originals[0]!.from_text)
  for (const answer of answers) expect(essence(answer)).toEqual(essence(originals[0]!))
  expect((await bodiesOf(tokens.bob)).filter((body) => body === 'from either')).toHaveLength(1)
})

test('a key is the account’s own: another account may use the same', async () => {
  const wire = await Wire.open(mailbox.port)
  const request = { to: 'bob', subject: 's', body: 'shared name', idempotency_key: 'shared' }
  const ann = await accepted(wire.post('/mail/send', tokens.ann, request))
  const cleo = await accepted(wire.post('/mail/send', tokens.cleo, request))
  expect(cleo.duplicate).toBeUndefined()
  expect(cleo.message_id).not.toBe(ann.message_id)
  wire.cut()
})

test('other content under the key is refused with the id of the original, whatever differs, and stores nothing', async () => {
  const wire = await Wire.open(mailbox.port)
  const parent = await accepted(wire.post('/mail/send', tokens.bob, { to: 'ann', subject: 'p', body: 'parent' }))
  const request = {
    to: 'bob',
    subject: 's',
    body: 'the original',
    correlation: 'c',
    refs: [{ kind: 'file', locator: 'a' }],
    reply_to: parent.message_id,
    upsert_key: 'u',
    idempotency_key: 'content',
  }
  const { message_id } = await accepted(wire.post('/mail/send', tokens.ann, request))
  const before = await bodiesOf(tokens.bob)
  const others = [
    { to: 'cleo' },
    { to: ['bob', 'cleo'] },
    { subject: 'S' },
    { body: 'the original ' },
    { correlation: 'C' },
    { correlation: null },
    { refs: [{ kind: 'file', locator: 'b' }] },
    { refs: [] },
    { reply_to: null },
    { close: true },
    { upsert_key: 'v' },
  ]
  for (const other of others) {
    const { status, body } = await wire.post('/mail/send', tokens.ann, { ...request, ...other })
    expect({ other, status, kind: body.kind, message_id: body.message_id }).toEqual({
      other,
      status: 409,
      kind: 'idempotency_conflict',
      message_id,
    })
  }
  expect(await bodiesOf(tokens.bob)).toEqual(before)
  expect((await bodiesOf(tokens.cleo)).filter((body) => body.startsWith('the original'))).toEqual([])
  expect(await accepted(wire.post('/mail/send', tokens.ann, request))).toMatchObject({ message_id, duplicate: true })
  wire.cut()
})

test('two contents race for one key: one wins, its 25 senders get it, the other 25 the conflict with its id', async () => {
  const wires = await Wire.many(mailbox.port, 50)
  const request = (index: number) => ({ to: 'bob', subject: 's', body: `race ${index % 2}`, idempotency_key: 'race' })
  const answers = await all(wires, request)
  const won = answers.filter(({ status }) => status === 200)
  const lost = answers.filter(({ status }) => status === 409)
  expect([won.length, lost.length]).toEqual([25, 25])
  const ids = answers.map(({ body }) => body.message_id)
  expect(new Set(ids).size).toBe(1)
  expect(new Set(lost.map(({ body }) => body.kind))).toEqual(new Set(['idempotency_conflict']))
  expect((await bodiesOf(tokens.bob)).filter((body) => body.startsWith('race'))).toHaveLength(1)
  for (const wire of wires) wire.cut()
})

test('after a kill -9 the repetition gets the original, and other content the conflict', async () => {
  const before = await Wire.open(mailbox.port)
  const request = { to: ['bob', 'cleo'], subject: 's', body: 'over the kill', idempotency_key: 'kill' }
  const original = await accepted(before.post('/mail/send', tokens.ann, request))
  await mailbox.down('SIGKILL')
  await mailbox.up()
  const wire = await Wire.open(mailbox.port)
  const again = await accepted(wire.post('/mail/send', tokens.ann, request))
  expect(again.duplicate).toBe(true)
  expect(essence(again)).toEqual(essence(original))
  const other = await wire.post('/mail/send', tokens.ann, { ...request, body: 'other' })
  expect(other.body).toMatchObject({ kind: 'idempotency_conflict', message_id: original.message_id })
  expect((await bodiesOf(tokens.bob)).filter((body) => body === 'over the kill')).toHaveLength(1)
  wire.cut()
})
