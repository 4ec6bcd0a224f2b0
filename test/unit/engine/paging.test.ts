// Pages of the inbox and of the other lists: each item once, in order, within the budget of bytes.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import fc from 'fast-check'
import { run } from '../../../src/engine/engine.ts'
import type { Caller } from '../../../src/engine/mail.ts'
import { Json } from '../../../src/wire/json.ts'
import { LIMITS } from '../../../src/wire/limits.ts'
import type { AnswerOf } from '../../../src/wire/operations.ts'
import { World } from './world.ts'

let world: World
let claude: Caller
let codex: Caller

beforeEach(async () => {
  world = await World.open()
  claude = await world.session(await world.account('claude'))
  codex = await world.session(await world.account('codex'))
})
afterEach(() => world.close())

type List = 'inbox' | 'sent' | 'thread' | 'search'
type Page = AnswerOf<'inbox'>

/** A page, and how many bytes its answer has. */
async function page(who: Caller, name: List, request: object): Promise<{ answer: Page; size: number }> {
  const more = name === 'search' ? { query: 'walrus' } : name === 'thread' ? { message_id: root } : {}
  const answer = await run(world.mail, name, who, { ...more, ...request } as never)
  if (!(answer instanceof Json)) throw new Error('a list is ready text')
  return { answer: answer.toJSON() as Page, size: Buffer.byteLength(answer.text) }
}
let root = ''

const bodies = fc.oneof(
  { weight: 4, arbitrary: fc.string({ maxLength: 300, unit: 'grapheme' }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 8000 }).map((n) => '"é\\\n'.repeat(n / 4)) },
)
const clean = (body: string) => `walrus ${body.replaceAll('\0', '').toWellFormed()}`

for (const name of ['inbox', 'sent', 'thread', 'search'] as const)
  test(`property: ${name} shows each message exactly once, in order, within the budget, while more arrive`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(bodies, { maxLength: 20 }),
        fc.array(bodies, { maxLength: 5 }),
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: LIMITS.budgetMin, max: 12_000 }),
        async (before, during, limit, max_bytes) => {
          await world.close()
          world = await World.open()
          claude = await world.session(await world.account('claude'))
          codex = await world.session(await world.account('codex'))
          const sent: string[] = []
          const post = async (body: string) => {
            const thread = root === '' ? { subject: 's' } : { reply_to: root }
            const request = { to: 'codex', body: clean(body), ...thread }
            sent.push((await world.call(claude, 'send', request)).message_id)
          }
          root = ''
          await post('')
          root = sent[0] ?? ''
          for (const body of before) await post(body)
          const arriving = [...during]
          const shown: string[] = []
          let cursor: string | null = null
          for (;;) {
            const { answer, size }: { answer: Page; size: number } = await page(
              name === 'inbox' ? codex : claude,
              name,
              { limit, max_bytes, cursor },
            )
            expect(size).toBeLessThanOrEqual(max_bytes)
            expect(answer.messages.length).toBeLessThanOrEqual(limit)
            shown.push(...answer.messages.map((message) => message.message_id))
            expect(answer.has_more).toBe(answer.has_more && answer.messages.length > 0)
            cursor = answer.cursor
            const body = arriving.pop()
            if (body !== undefined && name === 'inbox') await post(body)
            else if (!answer.has_more) break
          }
          const upwards = name === 'inbox' || name === 'thread'
          expect(shown).toEqual(upwards ? sent : sent.reverse())
        },
      ),
      { numRuns: 15 },
    )
  }, 30_000)

test('500 messages of 20 KB: the default answer stays within 40,000 bytes, each is shown once', async () => {
  const body = 'x'.repeat(20_000)
  const sent = await Promise.all(Array.from({ length: 500 }, () => world.letter(claude, 'codex', body)))
  const shown: string[] = []
  for (let cursor: string | null = null, more = true; more; ) {
    const { answer, size }: { answer: Page; size: number } = await page(codex, 'inbox', { cursor })
    expect(size).toBeLessThanOrEqual(LIMITS.budgetDefault)
    shown.push(...answer.messages.map((message) => message.message_id))
    ;({ cursor, has_more: more } = answer)
  }
  expect(shown.sort()).toEqual(sent.sort())
}, 20_000)

test('a message that alone is more than the budget is shown cut at a character border', async () => {
  const body = '😀é"\n'.repeat(6_000)
  const id = await world.letter(claude, 'codex', body)
  const second = await world.letter(claude, 'codex')
  const { answer, size } = await page(codex, 'inbox', { max_bytes: 3_000 })
  const [message] = answer.messages
  expect(answer.messages).toHaveLength(1)
  expect(message).toMatchObject({ message_id: id, body_truncated: true, body_bytes: Buffer.byteLength(body) })
  expect(body.startsWith(message?.body ?? '?')).toBe(true)
  expect(message?.body.isWellFormed()).toBe(true)
  expect(size).toBeGreaterThan(2_800)
  expect(size).toBeLessThanOrEqual(3_000)
  expect((await world.call(codex, 'get', { message_id: id })).body).toBe(body)
  expect(await world.inbox(codex, { cursor: answer.cursor })).toEqual([second])
})

test('the widest letter still fits the narrowest budget', async () => {
  const refs = Array.from({ length: 8 }, () => ({
    kind: 'k'.repeat(128),
    locator: '"'.repeat(512),
    digest: 'f'.repeat(128),
  }))
  const more = { correlation: '"'.repeat(512), refs, subject: '"'.repeat(512) }
  await world.call(claude, 'send', { to: ['codex', 'claude'], body: '"'.repeat(65_536), ...more })
  for (const [who, name] of [
    [codex, 'inbox'],
    [claude, 'sent'],
  ] as const) {
    const { answer, size } = await page(who, name, { max_bytes: LIMITS.budgetMin })
    expect(size).toBeLessThanOrEqual(LIMITS.budgetMin)
    expect(answer.messages).toHaveLength(1)
  }
})

test('since_unix_ms is inclusive and does not move with limit; unread ignores both', async () => {
  const first = await world.letter(claude, 'codex')
  const { created_at_unix_ms } = await world.call(codex, 'get', { message_id: first, peek: true })
  await Bun.sleep(2)
  const second = await world.letter(claude, 'codex')
  const all = await world.call(codex, 'inbox', { since_unix_ms: created_at_unix_ms })
  expect(all.messages.map((message) => message.message_id)).toEqual([first, second])
  const later = await world.call(codex, 'inbox', { since_unix_ms: created_at_unix_ms + 1, limit: 1 })
  expect(later).toMatchObject({ messages: [{ message_id: second }], unread: 2 })
})

test('a cursor of another store is expired, never a silent gap', async () => {
  await world.letter(claude, 'codex')
  const { cursor } = await world.call(codex, 'inbox', {})
  const foreign = `${cursor?.startsWith('0') ? '1' : '0'}${cursor?.slice(1)}`
  for (const name of ['inbox', 'sent', 'receipts'] as const)
    expect((await world.refusal(codex, name, { cursor: foreign })).kind).toBe('cursor_expired')
  expect((await world.refusal(codex, 'search', { query: 'x', cursor: foreign })).kind).toBe('cursor_expired')
})

test('a brief page has headings alone: so many as were asked for, and going on behind them opens nothing', async () => {
  for (const body of ['x'.repeat(45_000), 'short', 'y'.repeat(45_000), 'last'])
    await world.call(claude, 'send', { to: 'codex', subject: body.slice(0, 3), body: `walrus ${body}` })
  const brief = (await page(codex, 'inbox', { brief: true, limit: 3 })).answer
  expect(brief.messages.map(({ subject, body, body_bytes }) => [subject, body, body_bytes])).toEqual([
    ['xxx', '', 45_007],
    ['sho', '', 12],
    ['yyy', '', 45_007],
  ])
  const rest = (await page(codex, 'inbox', { brief: true, cursor: brief.cursor })).answer
  expect(rest.messages).toHaveLength(1)
  await world.call(codex, 'inbox', { cursor: rest.cursor })
  const states = async () => (await page(codex, 'inbox', { brief: true })).answer.messages.map(({ state }) => state)
  expect(await states()).toEqual(['new', 'new', 'new', 'new'])
  for (const name of ['sent', 'search'] as const)
    expect((await page(claude, name, { brief: true })).answer.messages).toHaveLength(4)
})
