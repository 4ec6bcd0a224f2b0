// contacts, own aliases, rooms as their members see them, figures; and private accounts, absent for who may not see them at any door.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { administer } from '../../../src/engine/admin/admin.ts'
import type { Caller } from '../../../src/engine/mail.ts'
import { addressOf, World } from './world.ts'

let world: World
let claude: Caller
let codex: Caller
let boss: Caller
let hidden: Caller

beforeEach(async () => {
  world = await World.open()
  claude = await world.session(await world.account('claude'))
  codex = await world.session(await world.account('codex'))
  boss = await world.session(await world.account('boss', { operator: true }, 'person'))
  hidden = await world.session(await world.account('Hidden'), 'beef')
  await world.room('build', claude.account, codex.account)
})
afterEach(() => world.close())

const hide = (visible_to?: string[]) =>
  administer(world.mail, 'participant/set', boss, { id: 'hidden', private: true, visible_to: visible_to ?? null })

describe('contacts', () => {
  test('what went between, and when each was last seen', async () => {
    await world.letter(claude, 'codex')
    await world.letter(claude, '#build')
    await world.letter(codex, addressOf(claude))
    const { accounts, rooms, machines, aliases } = await world.call(claude, 'contacts', {})
    expect(accounts.map((one) => one.id)).toEqual(['boss', 'codex', 'Hidden'])
    expect(accounts[1]).toMatchObject({
      sent: 2,
      heard: 1,
      live_sessions: [addressOf(codex)],
      last_seen: expect.any(String),
      last_written_at: expect.any(String),
      last_heard_at: expect.any(String),
    })
    expect(accounts[0]).toMatchObject({ sent: 0, heard: 0, last_written_at: null, last_heard_at: null })
    expect(rooms).toMatchObject([{ id: 'build', member: true, sent: 1, heard: 0, last_heard_at: null }])
    expect((await world.call(codex, 'contacts', {})).rooms).toMatchObject([
      { id: 'build', sent: 0, heard: 1, last_heard_at: expect.any(String) },
    ])
    expect([machines, aliases]).toEqual([[], []])
  })

  test('last seen outlives the session, also when it has left the memory', async () => {
    const seen = (await world.call(claude, 'contacts', {})).accounts[1]?.last_seen
    await world.end(codex)
    world.store.registry.sessionsOf(codex.account.id, 0)
    expect((await world.call(claude, 'contacts', {})).accounts[1]?.last_seen).toBe(seen as string)
    expect((await world.call(claude, 'ping', { target: 'codex' })).last_seen).toBe(seen as string)
  })

  test('pages by name', async () => {
    const first = await world.call(claude, 'contacts', { limit: 2 })
    expect(first).toMatchObject({ has_more: true, after: 'codex' })
    const rest = await world.call(claude, 'contacts', { limit: 2, after: first.after })
    expect(rest).toMatchObject({ has_more: false, accounts: [{ id: 'Hidden' }], rooms: [] })
  })
})

describe('aliases', () => {
  test('stand for their address wherever one is named, for their own account alone', async () => {
    await world.call(claude, 'alias', { name: 'Lead', address: addressOf(codex) })
    const sent = await world.call(claude, 'send', { to: '@lead', subject: 's', body: 'b' })
    expect(sent.results).toMatchObject([{ to_text: addressOf(codex), ok: true }])
    expect((await world.call(claude, 'ping', { target: 'lead' })).target_text).toBe(addressOf(codex))
    await world.letter(codex, 'claude')
    expect((await world.call(claude, 'follow', { written_by: 'lead' })).messages).toHaveLength(1)
    expect((await world.refusal(codex, 'send', { to: 'lead', subject: 's', body: 'b' })).kind).toBe(
      'unknown_participant',
    )
    await world.call(claude, 'alias', { name: 'team', address: '#build' })
    expect((await world.call(claude, 'contacts', {})).aliases).toEqual([
      { name: 'Lead', address: addressOf(codex) },
      { name: 'team', address: '#build' },
    ])
    await world.call(claude, 'alias', { name: 'LEAD', remove: true })
    expect((await world.refusal(claude, 'send', { to: 'lead', subject: 's', body: 'b' })).kind).toBe(
      'unknown_participant',
    )
  })

  test('hide no account, and an account that comes by the name later is not mistaken', async () => {
    expect((await world.refusal(claude, 'alias', { name: 'Codex', address: 'boss' })).kind).toBe('name_taken')
    expect((await world.refusal(claude, 'alias', { name: 'ALL', address: 'boss' })).kind).toBe('name_taken')
    await world.call(claude, 'alias', { name: 'new', address: 'boss' })
    await world.account('New')
    const refusal = await world.refusal(claude, 'send', { to: 'new', subject: 's', body: 'b' })
    expect(refusal).toMatchObject({ kind: 'ambiguous_alias', facts: { address: 'boss' } })
  })

  test('bad ones are refused', async () => {
    for (const request of [
      { name: 'x' },
      { name: 'x', remove: true },
      { name: 'x', address: 'codex', remove: true },
      { name: 'x', address: 'no name' },
    ])
      expect(['malformed', 'unknown_participant']).toContain((await world.refusal(claude, 'alias', request)).kind)
    await world.call(claude, 'alias', { name: 'a', address: 'codex' })
    expect((await world.refusal(claude, 'alias', { name: 'b', address: 'a' })).kind).toBe('malformed')
  })
})

describe('a private account', () => {
  /** Everything in which claude could meet it. */
  async function seenBy(caller: Caller): Promise<string[]> {
    const { participants, rooms } = await world.call(caller, 'directory', {})
    const known = await world.call(caller, 'contacts', {})
    const mine = await world.call(caller, 'rooms', {})
    const places: [string, unknown][] = [
      ['directory', participants],
      ['contacts', known.accounts],
      ['rooms', [rooms, mine.rooms]],
    ]
    return places.filter(([, shown]) => /hidden/i.test(JSON.stringify(shown))).map(([name]) => name)
  }

  test('is no account for who may not see it: lists, errors, sessions, pings', async () => {
    await hide()
    expect(await seenBy(claude)).toEqual([])
    const { accounts } = await world.call(boss, 'contacts', {})
    expect(accounts.find((one) => one.id === 'Hidden')).toMatchObject({ private: true })
    const to = ['hidden', `hidden/${hidden.session.name}`, 'hidden/s-beef']
    for (const target of to) {
      const refusals = [
        await world.refusal(claude, 'send', { to: target, subject: 's', body: 'b' }),
        await world.refusal(claude, 'ping', { target }),
      ]
      for (const refusal of refusals)
        expect(refusal.toJSON()).toEqual({
          ...refusal.toJSON(),
          kind: 'unknown_participant',
          message: 'no account hidden',
        })
    }
    // a session of it under another account's name: no candidate, no owner
    const other = await world.refusal(claude, 'ping', { target: `codex/${hidden.session.name}` })
    expect(other.kind).toBe('unknown_session')
    expect(JSON.stringify(other)).not.toMatch(/hidden/i)
    // nor by what it spawned
    codex.session.attested = { ...codex.session.attested, spawned_by: addressOf(hidden) }
    expect(await seenBy(claude)).toEqual([])
    expect(await seenBy(boss)).toEqual(['directory', 'contacts'])
    expect((await world.call(claude, 'alias', { name: 'hidden', address: 'codex' })).aliases).toHaveLength(1)
    expect((await world.call(claude, 'send', { to: 'hidden', subject: 's', body: 'b' })).results).toMatchObject([
      { to_text: 'codex', ok: true },
    ])
  })

  test('is seen by whom it wrote to, before and after, by its list, and by room mates', async () => {
    await world.letter(hidden, 'codex')
    await hide()
    expect(await seenBy(codex)).toEqual(['directory', 'contacts'])
    expect(await seenBy(claude)).toEqual([])
    await world.letter(hidden, 'claude')
    expect(await seenBy(claude)).toEqual(['directory', 'contacts'])
    await world.letter(claude, 'hidden')

    const late = await world.session(await world.account('late'))
    expect(await seenBy(late)).toEqual([])
    await hide(['late'])
    expect(await seenBy(late)).toEqual(['directory', 'contacts'])
    await hide([])
    expect(await seenBy(late)).toEqual([])
    const room = await world.room('den', hidden.account)
    expect(await seenBy(late)).toEqual([])
    await world.store.join(room, late.account)
    expect(await seenBy(late)).toEqual(['directory', 'contacts', 'rooms'])
    await administer(world.mail, 'participant/set', boss, { id: 'hidden', private: false })
    await world.store.leave(room, late.account)
    expect(await seenBy(late)).toEqual(['directory', 'contacts'])
  })

  test('can always be answered, and @all is what the sender sees', async () => {
    await world.room('den', hidden.account, claude.account)
    const id = await world.letter(hidden, '#den')
    await hide()
    await world.store.leave(world.store.registry.room('den') as never, claude.account)
    await world.store.join(world.store.registry.room('den') as never, claude.account)
    expect((await world.call(claude, 'send', { reply_to: id, body: 'answer' })).results[0]?.ok).toBe(true)
    await world.call(boss, 'send', { to: '@all', subject: 's', body: 'b' })
    expect(await world.inbox(hidden)).toHaveLength(2)
  })
})

describe('rooms', () => {
  test('members of one’s own; operators see all', async () => {
    await world.room('ops', boss.account)
    expect((await world.call(claude, 'rooms', {})).rooms).toMatchObject([
      { id: 'build', member: true, members: ['claude', 'codex'] },
      { id: 'ops', member: false },
    ])
    expect((await world.call(claude, 'rooms', { room: 'ops' })).rooms[0]).not.toHaveProperty('members')
    expect((await world.call(boss, 'rooms', { room: 'BUILD' })).rooms).toMatchObject([{ members: ['claude', 'codex'] }])
    expect((await world.refusal(claude, 'rooms', { room: 'none' })).kind).toBe('unknown_room')
  })

  test('whoever likes leaves; joining is the operator’s', async () => {
    expect(await world.call(codex, 'leave', { room: 'build' })).toMatchObject({ member: false })
    expect(await world.call(codex, 'leave', { room: 'build' })).toMatchObject({ member: false })
    expect((await world.refusal(codex, 'join', { room: 'build' })).facts.need).toBe('mail:operator')
    expect(await world.call(boss, 'join', { room: 'build' })).toMatchObject({ member: true })
    await world.letter(claude, '#build')
    expect(await world.inbox(codex)).toEqual([])
    expect(await world.inbox(boss)).toHaveLength(1)
  })
})

test('stats: by state, by peer, by day; another account for operators', async () => {
  const ids = [
    await world.letter(claude, 'codex'),
    await world.letter(claude, 'codex'),
    await world.letter(boss, 'codex'),
  ]
  await world.letter(codex, 'claude')
  await world.call(codex, 'get', { message_id: ids[0] as string })
  await world.call(codex, 'ack', { message_id: ids[1] as string })
  const today = new Date().toISOString().slice(0, 10)
  expect(await world.call(codex, 'stats', { days: 1 })).toMatchObject({
    target: 'codex',
    states: { new: 1, opened: 1, closed: 1 },
    unread: 2,
    oldest_unread_age_secs: 0,
    peers: [
      { id: 'claude', sent: 1, heard: 2 },
      { id: 'boss', sent: 0, heard: 1 },
    ],
    days: [{ day: today, sent: 1, heard: 3 }],
  })
  expect((await world.refusal(codex, 'stats', { target: 'claude' })).kind).toBe('permission_denied')
  expect(await world.call(boss, 'stats', { target: 'claude' })).toMatchObject({ target: 'claude', states: { new: 1 } })
})
