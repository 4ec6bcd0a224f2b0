// close_all: what was listed and no more, or what a filter finds; follow: mail past a cursor, without a gap and nothing twice.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Caller } from '../../../src/engine/mail.ts'
import { addressOf, patience, World } from './world.ts'

let world: World
let claude: Caller
let codex: Caller
let sibling: Caller

beforeEach(async () => {
  world = await World.open()
  claude = await world.session(await world.account('claude'))
  codex = await world.session(await world.account('codex'))
  sibling = await world.session(codex.account)
})
afterEach(() => world.close())

const all = { listed: 'session' } as const

describe('close_all', () => {
  test('closes what this session was listed; what came after, or was only notified, stays', async () => {
    await world.letter(claude, 'codex')
    await world.letter(claude, addressOf(codex))
    expect(await world.call(codex, 'close_all', all)).toMatchObject({ closed: 0, unlisted: 2 })
    await world.call(codex, 'notice', {})
    expect(await world.call(codex, 'close_all', all)).toMatchObject({ closed: 0, unlisted: 2 })
    const listed = await world.inbox(codex)
    const late = await world.letter(claude, 'codex')
    const answer = await world.call(codex, 'close_all', all)
    expect(answer).toMatchObject({ closed: 2, unlisted: 1, unread: 1, has_more: false })
    expect(answer.results.map((one) => one.message_id)).toEqual(listed)
    expect(await world.inbox(codex)).toEqual([late])
  })

  test('a sibling’s listing is not one’s own; outside of a session the account’s counts', async () => {
    await world.letter(claude, 'codex')
    await world.inbox(sibling)
    expect(await world.call(codex, 'close_all', all)).toMatchObject({ closed: 0, unlisted: 1 })
    expect(await world.call(codex, 'close_all', { listed: 'account' })).toMatchObject({ closed: 1 })
  })

  test('what was opened, or shown by a filter, was listed too', async () => {
    const opened = await world.letter(claude, 'codex')
    const shown = (await world.call(claude, 'send', { to: 'codex', subject: 's', body: 'b' })).message_id
    const { created_at_unix_ms } = await world.call(codex, 'get', { message_id: shown, peek: true })
    await world.letter(claude, 'codex')
    await world.call(codex, 'get', { message_id: opened })
    await world.inbox(codex, { since_unix_ms: created_at_unix_ms, limit: 1 })
    expect(await world.call(sibling, 'close_all', all)).toMatchObject({ closed: 0 })
    const answer = await world.call(codex, 'close_all', all)
    expect(answer.results.map((one) => one.message_id)).toContain(opened)
    expect(answer.unlisted).toBeGreaterThan(0)
  })

  test('only the page that was listed', async () => {
    for (let i = 0; i < 5; i++) await world.letter(claude, 'codex')
    await world.inbox(codex, { limit: 2 })
    expect(await world.call(codex, 'close_all', all)).toMatchObject({ closed: 2, unlisted: 3 })
  })

  test('what a sibling claimed, what was released, and what comes back with a room was not listed', async () => {
    const claimed = await world.letter(claude, 'codex')
    const lost = await world.session(codex.account)
    const orphan = await world.letter(claude, addressOf(lost))
    await world.inbox(lost)
    const room = await world.room('build', claude.account, codex.account)
    await world.letter(claude, '#build')
    await world.store.leave(room, codex.account)
    await world.call(sibling, 'claim', { message_id: claimed })
    const last = await world.letter(claude, 'codex')
    expect(await world.inbox(codex)).toEqual([last])
    await world.call(sibling, 'claim', { message_id: claimed, claim_secs: 0 })
    await world.end(lost)
    await world.store.release(lost.session)
    await world.store.join(room, codex.account)
    const answer = await world.call(codex, 'close_all', all)
    expect(answer.results.map((one) => one.message_id)).toEqual([last])
    expect(answer.unlisted).toBe(3)
    expect(await world.inbox(codex)).toContain(orphan)
  })

  test('filters: sender, subject, thread, state, age; dry run; nothing without any', async () => {
    const boss = await world.session(await world.account('boss'))
    const first = await world.letter(claude, 'codex')
    const reply = (await world.call(codex, 'send', { reply_to: first, body: 'x' })).message_id
    const inThread = (await world.call(claude, 'send', { reply_to: reply, body: 'y' })).message_id
    const other = (await world.call(boss, 'send', { to: 'codex', subject: 'Build RED', body: 'z' })).message_id
    const closes = async (request: object) => {
      const dry = await world.call(codex, 'close_all', { ...request, dry_run: true })
      expect(dry.closed).toBe(0)
      return dry.messages?.map((message) => message.message_id)
    }
    expect(await closes({ written_by: 'boss' })).toEqual([other])
    expect(await closes({ written_by: addressOf(claude) })).toEqual([first, inThread])
    expect(await closes({ subject: 'build red' })).toEqual([other])
    expect(await closes({ thread: inThread })).toEqual([first, inThread])
    expect(await closes({ state: 'opened' })).toEqual([first])
    expect(await closes({ older_than_secs: 60 })).toEqual([])
    world.ahead = 61_000
    expect(await closes({ older_than_secs: 60, written_by: 'claude' })).toEqual([first, inThread])
    expect((await world.refusal(codex, 'close_all', {})).facts.field).toBe('listed')
    expect((await world.refusal(codex, 'close_all', { written_by: '#x' })).facts.field).toBe('written_by')
    expect(await world.call(codex, 'close_all', { written_by: 'boss' })).toMatchObject({ closed: 1, unread: 2 })
  })

  test('goes on in steps, up to where it began', async () => {
    for (let i = 0; i < 1_050; i++) void world.letter(claude, 'codex')
    await world.letter(claude, 'codex')
    const step = await world.call(codex, 'close_all', { written_by: 'claude' })
    expect(step).toMatchObject({ closed: 1_000, has_more: true })
    const late = await world.letter(claude, 'codex')
    const rest = await world.call(codex, 'close_all', { written_by: 'claude', up_to: step.up_to, cursor: step.cursor })
    expect(rest).toMatchObject({ closed: 51, has_more: false })
    expect(await world.inbox(codex)).toEqual([late])
  })
})

describe('follow', () => {
  test('each letter once, whatever was asked twice; nothing is opened', async () => {
    const seen: string[] = []
    let cursor: string | null = null
    const next = async () => {
      // an answer that was lost is asked for again
      await world.call(codex, 'follow', { cursor })
      const answer = await world.call(codex, 'follow', { cursor })
      seen.push(...answer.messages.map((one) => one.message_id))
      cursor = answer.cursor
    }
    const sent: string[] = []
    await next()
    for (let i = 0; i < 5; i++) {
      sent.push(await world.letter(claude, i % 2 ? 'codex' : addressOf(codex)))
      if (i % 2) await next()
    }
    await next()
    expect(seen).toEqual(sent)
    expect((await world.call(codex, 'inbox', {})).messages.every((one) => one.state === 'new')).toBe(true)
  })

  test('a cursor says what was shown: close all and a later follow know it', async () => {
    await world.letter(claude, 'codex')
    const { cursor } = await world.call(codex, 'follow', {})
    expect((await world.call(codex, 'follow', {})).messages).toHaveLength(1)
    expect(await world.call(codex, 'close_all', all)).toMatchObject({ closed: 0 })
    await world.call(codex, 'follow', { cursor })
    expect((await world.call(codex, 'follow', {})).messages).toHaveLength(0)
    expect(await world.call(codex, 'close_all', all)).toMatchObject({ closed: 1 })
  })

  test('waits for a sender, a thread, an answer; passes over the rest and leaves it unseen', async () => {
    const asked = (await world.call(codex, 'send', { to: 'claude', subject: 'q', body: 'q' })).message_id
    const boss = await world.session(await world.account('boss'))
    const waits = [{ written_by: 'claude' }, { thread: asked }, { reply_to: asked }].map((filter) =>
      world.call(codex, 'follow', { ...filter, wait_secs: 5 }, patience(5)),
    )
    await Bun.sleep(5)
    await world.letter(boss, 'codex')
    await Bun.sleep(5)
    const answer = (await world.call(claude, 'send', { reply_to: asked, body: 'a' })).message_id
    for (const { messages } of await Promise.all(waits)) expect(messages.map((one) => one.message_id)).toEqual([answer])
    expect(codex.session.given).toBe(0)
    // that it was answered stays true, also when the answer is closed
    await world.call(codex, 'ack', { message_id: answer })
    expect((await world.call(codex, 'follow', { reply_to: asked })).messages).toHaveLength(1)
    expect((await world.call(codex, 'follow', { thread: asked })).messages).toHaveLength(0)
    const over = await world.call(codex, 'follow', { written_by: 'codex', wait_secs: 1 }, patience(0.05))
    expect(over).toMatchObject({ messages: [], waited_secs: expect.any(Number), cursor: expect.any(String) })
    expect((await world.refusal(codex, 'follow', { reply_to: 'm4a_0123456789abcdef01234567' })).kind).toBe(
      'unknown_message',
    )
  })
})

test('a sender that nobody is is refused; one that was removed is not, where it wrote something', async () => {
  const names = [
    ['close_all', { written_by: 'nosuch' }],
    ['follow', { written_by: 'nosuch' }],
    ['search', { written_by: 'nosuch' }],
    ['search', { to: 'nosuch' }],
    ['archive', { written_by: 'nosuch' }],
  ] as const
  for (const [name, request] of names)
    expect((await world.refusal(codex, name, request)).kind).toBe('unknown_participant')
  expect((await world.refusal(codex, 'search', { to: '#nosuch' })).kind).toBe('unknown_room')
  expect((await world.call(codex, 'close_all', { written_by: 'claude' })).closed).toBe(0)
  expect((await world.call(codex, 'search', { written_by: 'mail4agent' })).messages).toEqual([])
  await world.letter(claude, 'codex')
  await world.store.removeAccount(claude.account)
  expect((await world.call(codex, 'search', { written_by: 'claude' })).messages).toHaveLength(1)
  expect((await world.call(codex, 'close_all', { written_by: 'claude' })).closed).toBe(1)
  expect((await world.refusal(codex, 'close_all', { written_by: 'claude' })).kind).toBe('unknown_participant')
})

test('for a person its own posts are no news, from whichever terminal; for an agent those of siblings are', async () => {
  const lukas = await world.account('lukas', {}, 'person')
  const [here, there] = [await world.session(lukas), await world.session(lukas)]
  const sibling = await world.session(codex.account)
  await world.room('r', lukas, codex.account)
  await world.letter(here, '#r')
  await world.letter(sibling, '#r')
  const news = async (who: Caller) => (await world.call(who, 'follow', {})).messages.map(({ from_text }) => from_text)
  expect(await news(there)).toEqual([`codex/${sibling.session.name}`])
  expect(await news(codex)).toEqual([`lukas/${here.session.name}`, `codex/${sibling.session.name}`])
})

test('search is narrowed by sender, recipient, state, box, thread and time, with words or without', async () => {
  const boss = await world.session(await world.account('boss', { operator: true }))
  const one = await world.letter(claude, 'codex', 'alpha beta')
  const two = await world.letter(claude, addressOf(codex), 'alpha')
  const three = await world.letter(codex, 'claude', 'alpha')
  const reply = (await world.call(codex, 'send', { reply_to: one, body: 'alpha too', close: true })).message_id
  const found = async (request: object, caller = codex) =>
    (await world.call(caller, 'search', request)).messages.map((message) => message.message_id)
  expect(await found({ query: 'alpha', written_by: 'claude' })).toEqual([two, one])
  expect(await found({ written_by: addressOf(claude) })).toEqual([two, one])
  expect(await found({ query: 'beta', written_by: 'claude' })).toEqual([one])
  expect(await found({ box: 'sent' })).toEqual([reply, three])
  expect(await found({ box: 'received' })).toEqual([two, one])
  expect(await found({ state: 'closed' })).toEqual([one])
  expect(await found({ state: 'new' })).toEqual([two])
  expect(await found({ to: 'codex' })).toEqual([two, one])
  expect(await found({ to: addressOf(codex) })).toEqual([two])
  expect(await found({ thread: reply })).toEqual([reply, one])
  expect(await found({ query: 'alpha', since_unix_ms: Date.now() + 60_000 })).toEqual([])
  expect(await found({ query: 'alpha', until_unix_ms: Date.now() - 60_000 })).toEqual([])
  expect(await found({ written_by: 'codex' }, boss)).toEqual([reply, three])
  expect(await found({ written_by: 'codex' }, sibling)).toEqual([reply, three])
  expect((await world.refusal(codex, 'search', {})).facts.field).toBe('query')
})
