// send: addresses, replies, what is refused, loops and rates.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Caller } from '../../../src/engine/mail.ts'
import { LIMITS } from '../../../src/wire/limits.ts'
import { addressOf, World } from './world.ts'

let world: World
let claude: Caller
let codex: Caller
let sibling: Caller

beforeEach(async () => {
  world = await World.open()
  claude = await world.session(await world.account('Claude'), 'aaaa')
  sibling = await world.session(claude.account, 'bbbb')
  codex = await world.session(await world.account('codex'), 'cccc')
  await world.room('build', claude.account, codex.account)
})
afterEach(() => world.close())

const send = (to: string | string[], more: object = {}) =>
  world.call(claude, 'send', { to, subject: 'a subject', body: 'text', ...more })
const refused = (to: string | string[], more: object = {}) =>
  world.refusal(claude, 'send', { to, subject: 'a subject', body: 'text', ...more })

describe('recipients', () => {
  test('both forms of an address, without case, with a leading @; shown as registered', async () => {
    for (const to of ['codex', '@CODEX', { kind: 'direct', participant: 'Codex' } as const])
      expect((await world.call(claude, 'send', { to, subject: '', body: '' })).results).toMatchObject([
        { to: { kind: 'direct', participant: 'codex' }, to_text: 'codex', ok: true, state: 'new' },
      ])
  })

  test('what means one mailbox is one delivery, in its first spelling', async () => {
    const answer = await send(['codex', 'CODEX', '@codex', `codex/s-${'cccc'}`, addressOf(codex)])
    expect(answer.results.map((result) => result.to_text)).toEqual(['codex', addressOf(codex)])
    expect(await world.inbox(codex)).toEqual([answer.message_id])
    await world.call(codex, 'ack', { message_id: answer.message_id })
    expect(await world.inbox(codex)).toEqual([])
  })

  test('a room and a session of a member are one delivery too', async () => {
    const { message_id } = await send([addressOf(codex), '#build'])
    await world.call(codex, 'ack', { message_id })
    expect(await world.inbox(codex, { state: 'all' })).toEqual([message_id])
    expect(await world.inbox(codex)).toEqual([])
  })

  test('each kind of address that is nobody is refused by name', async () => {
    const expected = {
      nobody: 'unknown_participant',
      '#nowhere': 'unknown_room',
      'codex@desk': 'unknown_machine',
      'codex/s-dddd': 'unknown_session',
      [`codex/${claude.session.name}`]: 'session_account_mismatch',
      'no body': 'malformed',
    }
    for (const [to, kind] of Object.entries(expected)) expect([to, (await refused(to)).kind]).toEqual([to, kind])
    expect(await refused(`codex/${claude.session.name}`)).toMatchObject({
      facts: { expected: 'Claude', presented: 'codex' },
    })
  })

  test('an ambiguous prefix names the candidates', async () => {
    const twin = await world.session(codex.account, 'cccc')
    const refusal = await refused('codex/s-cccc')
    expect(refusal.kind).toBe('ambiguous_session')
    expect(refusal.facts.candidates).toEqual(expect.arrayContaining([addressOf(codex), addressOf(twin)]))
    expect((await send(addressOf(twin))).results[0]?.ok).toBe(true)
  })

  test('of several recipients each has its result; where all are refused nothing is stored', async () => {
    const answer = await send(['nobody', 'codex', '#nowhere'])
    expect(answer.results.map((result) => result.refusal?.kind ?? 'ok')).toEqual([
      'unknown_participant',
      'ok',
      'unknown_room',
    ])
    const refusal = await refused(['nobody', '#nowhere'])
    expect(refusal).toMatchObject({ kind: 'no_recipient', facts: { results: [{ ok: false }, { ok: false }] } })
    expect((await world.call(claude, 'sent', {})).messages).toHaveLength(1)
    expect((await world.refusal(claude, 'send', { subject: 's', body: 'b' })).kind).toBe('no_recipient')
  })

  test('@all is everybody else, for operators', async () => {
    expect(await refused('@all')).toMatchObject({ kind: 'permission_denied', facts: { need: 'mail:operator' } })
    const boss = await world.session(await world.account('boss', { operator: true }, 'person'))
    const answer = await world.call(boss, 'send', { to: '@all', subject: 's', body: 'b' })
    expect(answer.results.map((result) => result.to_text).sort()).toEqual(['Claude', 'codex'])
    const shown = await world.call(codex, 'get', { message_id: answer.message_id })
    expect(shown).toMatchObject({ recipients: ['@all'], to_text: 'codex' })
  })

  test('an ended session without a successor is stored for, with a warning', async () => {
    await world.end(codex)
    const answer = await send(addressOf(codex))
    expect(answer.results).toMatchObject([{ ok: true, warning: expect.stringContaining('has ended') }])
    expect((await send('codex')).results[0]?.warning).toContain('no live session')
    expect((await send('#build')).results[0]?.warning).toContain('no member')
  })

  test('a warning ends with its reason, at once', async () => {
    await world.end(codex)
    expect((await send('codex')).results[0]?.warning).toContain('no live session')
    const next = await world.session(codex.account)
    expect((await send('codex')).results[0]?.warning).toBeUndefined()
    expect((await world.call(claude, 'ping', { target: 'codex' })).warning).toBeUndefined()
    world.ahead = 1000 * (LIMITS.undrained + 60)
    expect((await send('codex')).results[0]?.warning).toContain('waiting for')
    await world.call(next, 'ack', { message_ids: await world.inbox(next) })
    expect((await world.call(claude, 'ping', { target: 'codex' })).warning).toBeUndefined()
  })

  test('a prefix means a live session first, else one that has ended, however long ago', async () => {
    const twin = await world.session(codex.account, 'cccc')
    await world.end(codex)
    expect((await send('codex/s-cccc')).results).toMatchObject([{ to_text: addressOf(twin) }])
    await world.end(twin)
    expect((await refused('codex/s-cccc')).toJSON()).toMatchObject({
      kind: 'ambiguous_session',
      candidates: expect.arrayContaining([addressOf(codex), addressOf(twin)]),
    })
    const own = codex.session.name.slice(0, 12)
    expect((await send(`codex/${own}`)).results).toMatchObject([{ to_text: addressOf(codex) }])
    for (let count = 0; count < 4; count++) await world.end(await world.session(codex.account, 'cccc'))
    expect((await refused('codex/s-cccc')).message).toStartWith('5 or more sessions of codex')
  })

  test('old unread mail is a warning', async () => {
    expect((await send('codex')).results[0]?.warning).toBeUndefined()
    world.ahead = 1000 * (LIMITS.undrained + 60)
    expect((await send('codex')).results[0]?.warning).toContain('waiting for 11 min')
  })
})

describe('content', () => {
  test('over a limit: refused with the limit; bytes, not characters', async () => {
    expect(await refused('codex', { subject: 'é'.repeat(257) })).toMatchObject({
      kind: 'too_large',
      facts: { field: 'subject', limit: 512, actual: 514 },
    })
    expect(await refused('codex', { body: '😀'.repeat(16_385) })).toMatchObject({ facts: { field: 'body' } })
    expect((await send('codex', { body: '😀'.repeat(16_384), subject: 'é'.repeat(256) })).hop).toBe(0)
    expect(await refused('codex', { subject: 'a\nb' })).toMatchObject({ facts: { field: 'subject' } })
    expect(await refused('codex', { body: 'a\0b' })).toMatchObject({ facts: { field: 'body' } })
    expect(await refused('codex', { body: '\ud800' })).toMatchObject({ facts: { field: 'body' } })
    const refs = [{ kind: 'file', locator: 'a\u0007' }]
    expect(await refused('codex', { refs })).toMatchObject({ facts: { field: 'refs' } })
  })

  test('every text comes back as it was', async () => {
    const body = 'line\r\nline\n\ttab "quoted" \\ \u2028 é 😀 \u001b[31m'
    const refs = [
      { kind: 'file', locator: 'src/a b.ts', digest: null },
      { kind: 'url', locator: 'x' },
    ]
    const { message_id } = await send('codex', { body, refs, correlation: 'ticket "7"' })
    expect(await world.call(codex, 'get', { message_id })).toMatchObject({ body, refs, correlation: 'ticket "7"' })
  })

  test('on_behalf_of needs a capability and is no sender', async () => {
    expect(await refused('codex', { on_behalf_of: 'Ada' })).toMatchObject({ facts: { need: 'mail:behalf' } })
    const desk = await world.session(await world.account('desk', { behalf: true }))
    const { message_id } = await world.call(desk, 'send', { to: 'codex', subject: '', body: '', on_behalf_of: 'Ada' })
    expect(await world.call(codex, 'get', { message_id })).toMatchObject({
      from_text: addressOf(desk),
      on_behalf_of: 'Ada',
    })
  })

  test('a subject is needed where there is nothing to reply to', async () => {
    const refusal = await world.refusal(claude, 'send', { to: 'codex', body: 'b' })
    expect(refusal).toMatchObject({ kind: 'malformed', facts: { field: 'subject' } })
  })
})

describe('replies', () => {
  const reply = (who: Caller, id: string, more: object = {}) =>
    world.call(who, 'send', { reply_to: id, body: 'answer', ...more })

  test('go to the sending session, in its thread, with its subject once', async () => {
    const id = await world.letter(claude, 'codex')
    const first = await reply(codex, id)
    expect(first).toMatchObject({ thread: id, hop: 1, results: [{ to_text: addressOf(claude) }] })
    const second = await reply(claude, first.message_id)
    expect(second).toMatchObject({ thread: id, hop: 2, results: [{ to_text: addressOf(codex) }] })
    expect(await world.call(codex, 'get', { message_id: second.message_id })).toMatchObject({
      subject: 'Re: a subject',
      reply_to: first.message_id,
      thread: id,
    })
  })

  test('to a room letter go to the room; to an own message, to those it was sent to', async () => {
    const id = await world.letter(claude, '#build')
    expect((await reply(codex, id)).results).toMatchObject([{ to_text: '#build' }])
    expect((await reply(claude, id)).results).toMatchObject([{ to_text: '#build' }])
    const own = await world.letter(claude, 'codex')
    expect((await reply(claude, own)).results).toMatchObject([{ to_text: 'codex' }])
  })

  test('to a session that has ended go to its account, openly; explicit addresses stay as they are', async () => {
    const id = await world.letter(claude, 'codex')
    await world.end(claude)
    const key = { idempotency_key: 'k' }
    const answer = await reply(codex, id, key)
    expect(answer.results).toMatchObject([
      { to: { kind: 'direct', participant: 'Claude' }, to_text: 'Claude', ok: true },
    ])
    expect(answer.results[0]?.warning).toBe('the session that wrote has ended; sent to its account')
    expect(await world.inbox(sibling)).toEqual([answer.message_id])
    expect(await reply(codex, id, key)).toMatchObject({
      duplicate: true,
      message_id: answer.message_id,
      results: [{ to_text: 'Claude' }],
    })
    expect((await reply(codex, id, { to: addressOf(claude) })).results).toMatchObject([{ to_text: addressOf(claude) }])
    await world.end(sibling)
    world.ahead = 2_000
    expect((await reply(codex, id)).results[0]?.warning).toContain('sent to its account; the account has no live')
  })

  test('to a process that is gone before the mailbox has noticed go to its account, too', async () => {
    const id = await world.letter(claude, 'codex')
    world.gone.add(claude.session.id)
    expect((await reply(codex, id)).results).toMatchObject([{ to_text: 'Claude' }])
  })

  test('to a session whose mailbox a successor has go to the successor', async () => {
    const id = await world.letter(claude, 'codex')
    await world.end(claude)
    const heir = await world.session(claude.account, '', claude.session.id)
    expect((await reply(codex, id)).results).toMatchObject([{ to_text: addressOf(heir) }])
  })

  test('never go to another account that has been given the name since', async () => {
    const id = await world.letter(claude, 'codex')
    await world.end(claude)
    await world.store.removeAccount(claude.account)
    await world.account('Claude')
    expect((await world.refusal(codex, 'send', { reply_to: id, body: 'b' })).kind).toBe('unknown_session')
  })

  test('a subject that Re: would make too long stays as it is', async () => {
    const subject = 'x'.repeat(LIMITS.subject)
    const { message_id } = await send('codex', { subject })
    const answer = await reply(codex, message_id)
    expect((await world.call(claude, 'get', { message_id: answer.message_id })).subject).toBe(subject)
  })

  test('open the original; close settles it in the same commit', async () => {
    const id = await world.letter(claude, 'codex')
    await reply(codex, id)
    expect((await world.call(codex, 'get', { message_id: id, peek: true })).state).toBe('opened')
    expect(await reply(codex, id, { close: true })).toMatchObject({ closed: id })
    expect(await world.call(codex, 'get', { message_id: id })).toMatchObject({
      state: 'closed',
      close_reason: 'replied',
      closed_by: addressOf(codex),
    })
  })

  test('close needs a delivery of the caller to close', async () => {
    expect(await refused('codex', { close: true })).toMatchObject({ kind: 'malformed', facts: { field: 'close' } })
    const id = await world.letter(claude, 'codex')
    const refusal = await world.refusal(claude, 'send', { reply_to: id, body: 'b', close: true })
    expect(refusal).toMatchObject({ kind: 'malformed', facts: { field: 'close' } })
    const twin = await world.session(codex.account)
    await world.call(twin, 'claim', { message_id: id })
    const held = await world.refusal(codex, 'send', { reply_to: id, body: 'b', close: true })
    expect(held).toMatchObject({ kind: 'claimed', facts: { claimed_by: addressOf(twin) } })
  })

  test('to what the caller may not read: unknown, whether it exists or not', async () => {
    const id = await world.letter(claude, addressOf(codex))
    const twin = await world.session(codex.account)
    for (const reply_to of [id, `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`, `m4a_${'f'.repeat(24)}`])
      expect((await world.refusal(twin, 'send', { reply_to, body: 'b' })).kind).toBe('unknown_message')
  })

  test("within session mail are not a sibling session's to read", async () => {
    const id = await world.letter(codex, addressOf(claude))
    const answer = await reply(claude, id)
    const own = await world.letter(claude, addressOf(sibling))
    for (const message_id of [id, answer.message_id]) {
      expect((await world.refusal(sibling, 'get', { message_id })).kind).toBe('unknown_message')
      expect((await world.refusal(sibling, 'receipts', { message_id })).kind).toBe('unknown_message')
    }
    expect((await world.call(sibling, 'sent', {})).messages).toEqual([])
    expect((await world.call(claude, 'sent', {})).messages.map((message) => message.message_id)).toEqual([
      own,
      answer.message_id,
    ])
  })
})

describe('loops and rates', () => {
  test('hops: quiet above 16, refused above 256, none for a person', async () => {
    let id = await world.letter(claude, 'codex')
    const answers: string[] = []
    for (let hop = 1; hop <= 17; hop++) {
      const answer = await world.call(hop % 2 ? codex : claude, 'send', { reply_to: id, body: '.' })
      answers.push(`${answer.hop} ${answer.wake_suppressed ?? ''}`)
      id = answer.message_id
    }
    expect(answers.slice(14)).toEqual(['15 ', '16 ', '17 hop'])
    expect((await world.call(claude, 'get', { message_id: id })).wake_suppressed).toBe('hop')
    const { store } = world
    const row = store.message(Number.parseInt(id.slice(4, 16), 16))
    if (!row) throw new Error('no message')
    const deep = await store.send({
      account: codex.account,
      session: codex.session,
      scope: 0,
      thread: row.thread,
      parent: row.id,
      hop: LIMITS.hopMax,
      recipients: [{ text: 'Claude', kind: 0, box: claude.account.box, account: claude.account.id, room: 0 }],
      fragment: (own, random) => row.json.replace(id, `m4a_${own.toString(16).padStart(12, '0')}${random}`),
      idempotency: null,
      upsert: null,
      close: null,
    })
    const last = store.message(deep.id)
    if (!last) throw new Error('no message')
    const reply_to = `m4a_${last.id.toString(16).padStart(12, '0')}${last.random}`
    expect(await world.refusal(claude, 'send', { reply_to, body: '.' })).toMatchObject({
      kind: 'hop_limit',
      facts: { hop: 257, limit: 256 },
    })
    const person = await world.session(await world.account('ada', { operator: true }, 'person'))
    expect((await world.call(person, 'send', { reply_to, body: '.' })).hop).toBe(0)
  })

  test('above the rate of a pair mail is stored but quiet', async () => {
    const answers = []
    for (let i = 0; i <= LIMITS.pairBurst + 1; i++) answers.push((await send('codex')).wake_suppressed)
    expect(answers.slice(0, LIMITS.pairBurst).every((one) => one === undefined)).toBe(true)
    expect(answers.at(-1)).toBe('rate')
    expect((await world.call(codex, 'unread', {})).unread).toBe(answers.length)
  })

  test('above the rate of an account sends are refused with the time to wait', async () => {
    const { rates } = world.mail
    // emptied as of a minute from now, so that nothing refills while the test runs
    while (rates.send(claude.account.id, Date.now() + 60_000) === 0);
    const refusal = await refused('codex')
    expect(refusal.kind).toBe('rate_limited')
    expect(refusal.facts.retry_after_ms).toBeGreaterThan(0)
  })
})

test('an upsert key closes the earlier signal as superseded and counts it', async () => {
  const first = await send('codex', { upsert_key: 'build-state' })
  const second = await send('codex', { upsert_key: 'build-state' })
  expect([first.superseded, second.superseded]).toEqual([undefined, 1])
  const page = await world.call(codex, 'inbox', { state: 'all' })
  expect(page.messages).toMatchObject([
    { message_id: first.message_id, state: 'closed', close_reason: 'superseded' },
    { message_id: second.message_id, state: 'new', updates: 1 },
  ])
})
