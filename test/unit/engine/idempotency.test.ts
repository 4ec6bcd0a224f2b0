// idempotency_key: the same content gives the original, other content is a conflict; scoped to the account.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Caller } from '../../../src/engine/mail.ts'
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

test('an expanded recipient counts as it was written: @all, a room, a session by its prefix', async () => {
  const boss = await world.session(await world.account('boss', { operator: true }, 'person'))
  const all = await world.call(boss, 'send', request({ to: '@all' }))
  await world.account('newcomer')
  expect((await world.call(boss, 'send', request({ to: '@ALL' }))).message_id).toBe(all.message_id)
  const first = await world.call(claude, 'send', request({ to: addressOf(codex).slice(0, 14) }))
  expect((await world.call(claude, 'send', request({ to: addressOf(codex) }))).message_id).toBe(first.message_id)
  await world.end(codex)
  await world.session(codex.account, '', codex.session.id)
  expect(await world.call(claude, 'send', request({ to: addressOf(codex) }))).toMatchObject({ duplicate: true })
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
