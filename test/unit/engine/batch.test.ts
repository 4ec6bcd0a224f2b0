// ack, reopen and claim: one id or many, results and refusals for each.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { Caller } from '../../../src/engine/mail.ts'
import { addressOf, World } from './world.ts'

let world: World
let claude: Caller
let codex: Caller
let sibling: Caller
const unknown = `m4a_${'0'.repeat(23)}1`

beforeEach(async () => {
  world = await World.open()
  claude = await world.session(await world.account('claude'))
  codex = await world.session(await world.account('codex'))
  sibling = await world.session(codex.account)
})
afterEach(() => world.close())

test('exactly one of message_id and message_ids', async () => {
  const message_id = await world.letter(claude, 'codex')
  for (const name of ['ack', 'close', 'reopen', 'claim'] as const) {
    expect((await world.refusal(codex, name, {})).facts.field).toBe('message_id')
    const both = { message_id, message_ids: [message_id] }
    expect((await world.refusal(codex, name, both)).facts.field).toBe('message_ids')
  }
})

test('an ack says who and when, at its top level too; a repeat gives the first time', async () => {
  const message_id = await world.letter(claude, 'codex')
  const first = await world.call(codex, 'ack', { message_id })
  expect(first).toMatchObject({
    ack: { message_id, reader: { kind: 'session', participant: 'codex', session: codex.session.name } },
    message_id,
    results: [{ message_id, ok: true }],
    unread: 0,
  })
  expect(first.acked_at_unix_ms).toBe(Date.parse(first.acked_at))
  await Bun.sleep(2)
  expect((await world.call(codex, 'close', { message_id })).acked_at).toBe(first.acked_at)
})

test('many ids: a result each, in the order asked; all refused is the first refusal', async () => {
  const ids = [await world.letter(claude, 'codex'), await world.letter(claude, addressOf(codex))]
  const [first = '', second = ''] = ids
  const asked = [unknown, second, first, first]
  const answer = await world.call(codex, 'ack', { message_ids: asked })
  expect(answer.results.map((result) => [result.message_id, result.refusal?.kind ?? 'ok'])).toEqual([
    [unknown, 'unknown_message'],
    [second, 'ok'],
    [first, 'ok'],
  ])
  expect(answer.message_id).toBe(second)
  expect((await world.refusal(codex, 'ack', { message_ids: [unknown] })).kind).toBe('unknown_message')
  // the first that was asked for, whoever found out what is wrong with it
  expect((await world.refusal(codex, 'reopen', { message_ids: [unknown] })).kind).toBe('unknown_message')
  const open = await world.letter(claude, 'codex')
  expect((await world.refusal(codex, 'reopen', { message_ids: [open, unknown] })).kind).toBe('not_closed')
  expect((await world.refusal(codex, 'reopen', { message_ids: [unknown, open] })).kind).toBe('unknown_message')
})

test('an id with another random half, or of what was not delivered to the caller, is unknown', async () => {
  const id = await world.letter(claude, 'codex')
  const other = `${id.slice(0, 16)}${'0'.repeat(12)}`
  for (const [who, message_id] of [
    [codex, other],
    [claude, id],
  ] as const)
    for (const name of ['ack', 'reopen', 'claim'] as const)
      expect(await world.refusal(who, name, { message_id })).toMatchObject({
        kind: 'unknown_message',
        facts: { message_id },
      })
  expect((await world.refusal(claude, 'ack', { message_id: 'm4a_ffffffffffff000000000000' })).kind).toBe(
    'unknown_message',
  )
})

test("a claim refuses a sibling's ack and claim with who and until when; the holder renews and gives back", async () => {
  const message_id = await world.letter(claude, 'codex')
  const { claimed_until } = await world.call(codex, 'claim', { message_id })
  for (const name of ['ack', 'claim'] as const)
    expect(await world.refusal(sibling, name, { message_id })).toMatchObject({
      kind: 'claimed',
      facts: { claimed_by: addressOf(codex), claimed_until },
    })
  expect((await world.call(codex, 'claim', { message_id, claim_secs: 3600 })).results[0]?.ok).toBe(true)
  expect((await world.call(codex, 'claim', { message_id, claim_secs: 0 })).claimed_until).toBeNull()
  expect((await world.call(sibling, 'ack', { message_id })).results[0]?.ok).toBe(true)
})

test('only open account mail can be claimed', async () => {
  await world.room('build', claude.account, codex.account)
  const session = await world.letter(claude, addressOf(codex))
  const closed = await world.letter(claude, 'codex')
  await world.call(codex, 'ack', { message_id: closed })
  const room = await world.letter(claude, '#build')
  for (const message_id of [session, closed, room]) {
    const refusal = await world.refusal(codex, 'claim', { message_id })
    expect([refusal.kind, refusal.status, refusal.facts]).toEqual(['not_claimable', 409, { message_id }])
    expect(refusal.message).toBe('only open mail of the account can be claimed')
  }
})

test('reopen puts closed mail back, and refuses what is not closed', async () => {
  const message_id = await world.letter(claude, 'codex')
  expect((await world.refusal(codex, 'reopen', { message_id })).kind).toBe('not_closed')
  await world.call(codex, 'ack', { message_id })
  expect(await world.call(sibling, 'reopen', { message_id })).toMatchObject({
    results: [{ message_id, ok: true }],
    unread: 1,
  })
  expect(await world.inbox(codex)).toEqual([message_id])
})
