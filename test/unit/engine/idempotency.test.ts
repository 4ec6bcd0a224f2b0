// idempotency_key: the same content gives the original, other content is a conflict; scoped to the account.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Caller } from '../../../src/engine/mail.ts'
import { Refusal } from '../../../src/wire/refusal.ts'
import type { SendRequest } from '../../../src/wire/requests.ts'
import { addressOf, World } from './world.ts'

let world: World
let claude: Caller
let codex: Caller

beforeEach(async () => {
  world = await World.open()
  claude = await world.session(await world.account('claude'))
  codex = await world.session(await world.account('codex'))
  await world.room('build', claude.account, codex.account)
})
afterEach(() => world.close())

const request = (more: Partial<SendRequest> = {}): SendRequest => ({
  to: 'codex',
  subject: 's',
  body: 'b',
  idempotency_key: 'k:1/a',
  ...more,
})

test('a repeat gives the original with what became of it, also from another process of the account', async () => {
  const first = await world.call(claude, 'send', request())
  await world.call(codex, 'get', { message_id: first.message_id })
  const twin = await world.session(claude.account)
  const again = await world.call(twin, 'send', request())
  expect(again).toMatchObject({
    message_id: first.message_id,
    thread: first.thread,
    from_text: addressOf(claude),
    created_at: first.created_at,
    duplicate: true,
    results: [{ to_text: 'codex', ok: true, state: 'opened' }],
  })
  expect((await world.call(codex, 'unread', {})).unread).toBe(1)
})

test("the key is the account's: another account's is another", async () => {
  const first = await world.call(claude, 'send', request({ to: '#build' }))
  const other = await world.call(codex, 'send', request({ to: '#build' }))
  expect(other.duplicate).toBeUndefined()
  expect(other.message_id).not.toBe(first.message_id)
})

test('50 sends at once make one message and 50 equal answers', async () => {
  const answers = await Promise.all(Array.from({ length: 50 }, () => world.call(claude, 'send', request())))
  expect(new Set(answers.map((answer) => answer.message_id)).size).toBe(1)
  expect(new Set(answers.map((answer) => answer.created_at)).size).toBe(1)
  expect(answers.filter((answer) => answer.duplicate)).toHaveLength(49)
  expect(await world.inbox(codex)).toHaveLength(1)
})

test('an answer that loses the race for its key is refused and does not open what it answered', async () => {
  const won = await world.letter(codex, 'claude')
  const lost = await world.letter(codex, 'claude')
  // both are past the look at the key before either is stored
  const first = world.call(claude, 'send', { reply_to: won, body: 'first', idempotency_key: 'race' })
  const second = world.refusal(claude, 'send', { reply_to: lost, body: 'second', idempotency_key: 'race' })
  const { message_id } = await first
  expect(await second).toMatchObject({ kind: 'idempotency_conflict', facts: { message_id } })
  const state = async (message_id: string) => (await world.call(claude, 'get', { message_id, peek: true })).state
  expect([await state(won), await state(lost)]).toEqual(['opened', 'new'])
})

test('a recipient counts as it was written: @all, a session, before and after a succession', async () => {
  const boss = await world.session(await world.account('boss', { operator: true }, 'person'))
  const all = await world.call(boss, 'send', request({ to: '@all' }))
  await world.account('newcomer')
  expect((await world.call(boss, 'send', request({ to: '@ALL' }))).message_id).toBe(all.message_id)
  const to = addressOf(codex)
  const { message_id } = await world.call(claude, 'send', request({ to }))
  const session = { kind: 'session', participant: 'Codex', session: codex.session.name } as const
  expect(await world.call(claude, 'send', request({ to: session }))).toMatchObject({ message_id, duplicate: true })
  const short = await world.refusal(claude, 'send', request({ to: to.slice(0, 14) }))
  expect(short).toMatchObject({ kind: 'idempotency_conflict', facts: { message_id } })
  await world.end(codex)
  await world.session(codex.account, '', codex.session.id)
  expect(await world.call(claude, 'send', request({ to }))).toMatchObject({ message_id, duplicate: true })
})

test('property: a send with the same key is a repeat exactly where its content is the same', async () => {
  const parent = await world.letter(codex, 'claude')
  const text = fc.constantFrom('a', 'b')
  const addresses: NonNullable<SendRequest['to']>[] = ['codex', '#build', ['codex', 'claude'], ['claude', '@Codex']]
  const references: Exclude<SendRequest['refs'], undefined>[] = [
    null,
    [{ kind: 'file', locator: 'a' }],
    [{ kind: 'file', locator: 'a', digest: 'ff' }],
  ]
  const members = {
    to: fc.constantFrom(...addresses),
    subject: text,
    body: text,
    reply_to: fc.constantFrom(null, parent),
    correlation: fc.constantFrom(null, 'a', 'b'),
    refs: fc.constantFrom(...references),
    close: fc.constantFrom(null, false, true),
    upsert_key: fc.constantFrom(null, 'u'),
  }
  const content = fc.record(members)
  // the second differs in one member at most: that is where a forgotten one would show
  const other = fc.oneof(...Object.entries(members).map(([name, value]) => fc.record({ [name]: value })))
  const meaning = ({ to, ...rest }: SendRequest) => {
    const names = [to].flat().map((name) => String(name).toLowerCase().replace('@', ''))
    return JSON.stringify([names.sort(), { ...rest, refs: rest.refs ?? [], close: rest.close ?? false }])
  }
  let key = 0
  await fc.assert(
    fc.asyncProperty(content, other, async (a: SendRequest, change: Partial<SendRequest>) => {
      const b = { ...a, ...change }
      for (const one of [a, b]) fc.pre(!one.close || one.reply_to !== null)
      const idempotency_key = `key${key++}`
      const first = await world.call(claude, 'send', { ...a, idempotency_key })
      if (meaning(a) === meaning(b)) {
        const again = await world.call(claude, 'send', { ...b, idempotency_key })
        expect([again.duplicate, again.message_id]).toEqual([true, first.message_id])
      } else {
        const refusal = await world.refusal(claude, 'send', { ...b, idempotency_key })
        expect([refusal.kind, refusal.facts.message_id]).toEqual(['idempotency_conflict', first.message_id])
      }
    }),
    { numRuns: 100 },
  )
})

test('a retry is known as one when its recipient is gone: an account, a session, a room that was left or removed', async () => {
  const gone = await world.session(await world.account('gone'))
  const room = await world.room('den', claude.account, codex.account)
  await world.room('hall', claude.account, codex.account)
  const requests = ['gone', addressOf(codex).slice(0, 14), '#den', '#hall', ['gone', 'codex']].map((to, index) =>
    request({ to, idempotency_key: `k${index}` }),
  )
  const first: string[] = []
  for (const one of requests) first.push((await world.call(claude, 'send', one)).message_id)
  await world.end(gone)
  await world.store.removeAccount(gone.account)
  await world.end(codex)
  await world.store.leave(room, claude.account)
  const hall = world.store.registry.room('hall')
  if (hall) await world.store.removeRoom(hall)
  for (const [index, one] of requests.entries()) {
    const again = await world.call(claude, 'send', one)
    expect([again.message_id, again.duplicate]).toEqual([first[index] ?? '', true])
  }
  const other = await world.refusal(claude, 'send', request({ to: 'gone', body: 'other', idempotency_key: 'k0' }))
  expect(other).toMatchObject({ kind: 'idempotency_conflict', facts: { message_id: first[0] } })
  expect((await world.refusal(claude, 'send', request({ to: 'gone', idempotency_key: 'new' }))).kind).toBe(
    'unknown_participant',
  )
})

test('a retried answer is known as one when what it answered can no longer be read', async () => {
  const room = await world.room('den', claude.account, codex.account)
  const reply_to = await world.letter(codex, '#den')
  const answer: SendRequest = { reply_to, body: 'an answer', close: true, idempotency_key: 'answer' }
  const { message_id } = await world.call(claude, 'send', answer)
  await world.store.leave(room, claude.account)
  expect((await world.refusal(claude, 'get', { message_id: reply_to })).kind).toBe('unknown_message')
  expect(await world.call(claude, 'send', answer)).toMatchObject({ message_id, duplicate: true })
})

test('neither rates nor hops refuse a retry, and it costs no rate', async () => {
  const first = await world.call(claude, 'send', request())
  let last = await world.letter(claude, 'codex')
  let refused: string | null = null
  const bounce: SendRequest[] = []
  for (let hop = 1; refused === null; hop++) {
    const from = hop % 2 === 1 ? codex : claude
    const next = { reply_to: last, body: 'b', idempotency_key: `hop${hop}` }
    try {
      last = (await world.call(from, 'send', next)).message_id
      bounce.push(next)
    } catch (error) {
      refused = error instanceof Refusal ? error.kind : String(error)
    }
    world.ahead += 10_000
  }
  expect(refused).toBe('hop_limit')
  const deepest = bounce.length % 2 === 1 ? codex : claude
  expect(await world.call(deepest, 'send', bounce.at(-1) ?? request())).toMatchObject({ duplicate: true })
  const flood = async (): Promise<string> => {
    for (;;) {
      try {
        await world.letter(claude, 'codex')
      } catch (error) {
        return error instanceof Refusal ? error.kind : String(error)
      }
    }
  }
  expect(await flood()).toBe('rate_limited')
  for (let times = 0; times < 3; times++)
    expect(await world.call(claude, 'send', request())).toMatchObject({ message_id: first.message_id, duplicate: true })
})
