// whoami, status, directory, unread, ping, and the capabilities that operations need.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Caller } from '../../../src/engine/mail.ts'
import type { OperationName, RequestOf } from '../../../src/wire/operations.ts'
import { addressOf, patience, World } from './world.ts'

let world: World
let claude: Caller
let codex: Caller
let boss: Caller

beforeEach(async () => {
  world = await World.open()
  claude = await world.session(await world.account('claude'))
  codex = await world.session(await world.account('Codex'))
  boss = await world.session(await world.account('boss', { operator: true, read: false, send: false }, 'person'))
  await world.room('build', claude.account, codex.account)
  await world.room('Ops')
})
afterEach(() => world.close())

test('whoami is all that a new session needs to know', async () => {
  await world.letter(codex, '#build')
  expect(await world.call(claude, 'whoami', {})).toMatchObject({
    address: { kind: 'session', participant: 'claude', session: claude.session.name },
    address_text: addressOf(claude),
    account: 'claude',
    capabilities: ['send', 'read'],
    rooms: ['build'],
    card: { attested: { pid: 1 }, corroborated: { model: null }, declared: { working_on: null } },
    unread: 1,
  })
  expect((await world.call(boss, 'whoami', {})).capabilities).toEqual(['operator'])
})

test('status replaces the declared group; what is left out is cleared', async () => {
  await world.call(claude, 'status', { working_on: 'the door', role: 'builder' })
  const { card } = await world.call(claude, 'status', { working_on: 'tests' })
  expect(card.declared).toEqual({ working_on: 'tests', role: null, parent: null })
  expect(card.attested.pid).toBe(1)
  expect((await world.call(claude, 'whoami', {})).card?.declared.working_on).toBe('tests')
  expect((await world.refusal(claude, 'status', { role: 'é'.repeat(300) })).kind).toBe('too_large')
  expect((await world.refusal(claude, 'status', { role: 'a\tb' })).facts.field).toBe('role')
})

test('directory: accounts ascending with their sessions, live ones first; rooms as the caller stands to them', async () => {
  const ended = await world.session(claude.account)
  await world.end(ended)
  const gone = await world.session(codex.account)
  world.gone.add(gone.session.id)
  const { participants, rooms, has_more } = await world.call(claude, 'directory', {})
  expect(participants.map((one) => one.id)).toEqual(['boss', 'claude', 'Codex'])
  expect(participants[1]?.sessions).toMatchObject([
    { id: claude.session.name, address: addressOf(claude), live: true },
    { id: ended.session.name, live: false },
  ])
  expect(participants[2]?.sessions.map((one) => one.live)).toEqual([true, false])
  expect(rooms).toEqual([
    { id: 'build', member: true, members: 2 },
    { id: 'Ops', member: false, members: 0 },
  ])
  expect(has_more).toBe(false)
  expect((await world.call(boss, 'directory', {})).rooms[0]?.member).toBe(false)
  const all = JSON.stringify(participants)
  for (const { account } of [claude, codex, boss]) expect(all).not.toContain(account.digest)
  world.ahead = 3_700_000
  expect((await world.call(claude, 'directory', {})).participants[1]?.sessions).toHaveLength(1)
})

test('directory pages by name, without case, within the usual budget', async () => {
  for (let i = 0; i < 60; i++) {
    const account = await world.account(`${i % 2 ? 'Agent' : 'agent'}-${i}`)
    for (let k = 0; k < 3; k++) await world.session(account)
  }
  const names: string[] = []
  for (let after: string | null = null, more = true; more; ) {
    const page: Awaited<ReturnType<typeof world.call<'directory'>>> = await world.call(claude, 'directory', { after })
    expect(JSON.stringify(page).length).toBeLessThanOrEqual(40_000)
    names.push(...page.participants.map((one) => one.id))
    ;({ after, has_more: more } = page)
  }
  expect(names).toHaveLength(63)
  expect(names).toEqual([...names].sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1)))
  expect((await world.call(claude, 'directory', { limit: 2 })).participants).toHaveLength(2)
})

describe('unread', () => {
  test('own session and own account for everyone', async () => {
    await world.letter(claude, 'codex')
    await world.letter(claude, addressOf(codex))
    await world.letter(codex, '#build')
    expect(await world.call(codex, 'unread', {})).toMatchObject({ unread: 2, oldest_age_secs: 0 })
    expect((await world.call(codex, 'unread', { target: addressOf(codex) })).unread).toBe(2)
    expect((await world.call(codex, 'unread', { target: '@CODEX' })).unread).toBe(1)
    expect((await world.call(codex, 'inbox', {})).unread).toBe(2)
    world.ahead = 90_000
    expect((await world.call(codex, 'unread', {})).oldest_age_secs).toBe(90)
  })

  test('others for operators, rooms for nobody', async () => {
    const sibling = await world.session(codex.account)
    await world.letter(claude, addressOf(sibling))
    for (const target of ['claude', addressOf(sibling), 'nobody'])
      expect(await world.refusal(codex, 'unread', { target })).toMatchObject({
        kind: 'permission_denied',
        facts: { need: 'mail:operator' },
      })
    expect(await world.call(boss, 'unread', { target: addressOf(sibling) })).toMatchObject({ unread: 1 })
    expect((await world.call(boss, 'unread', { target: 'codex' })).unread).toBe(0)
    expect((await world.refusal(boss, 'unread', { target: 'nobody' })).kind).toBe('unknown_participant')
    expect((await world.refusal(boss, 'unread', { target: '#build' })).facts.field).toBe('target')
  })
})

test('ping: presence, what waits, who is parked; no turn of the agent', async () => {
  await world.letter(claude, 'codex')
  const leave = new AbortController()
  const parked = world.call(claude, 'inbox', { wait_secs: 5 }, patience(5, leave.signal))
  expect(await world.call(codex, 'ping', { target: 'claude' })).toMatchObject({
    live_sessions: 1,
    waiting: 1,
    unread: 0,
  })
  leave.abort()
  await parked
  const seen = await world.call(claude, 'ping', { target: 'codex' })
  expect(seen).toMatchObject({ target_text: 'Codex', unread: 1, oldest_unread_age_secs: 0, waiting: 0 })
  expect(seen.warning).toBeUndefined()
  await world.end(codex)
  world.ahead = 2_000
  expect(await world.call(claude, 'ping', { target: addressOf(codex) })).toMatchObject({
    live_sessions: 0,
    warning: expect.stringContaining('has ended'),
  })
  expect((await world.refusal(claude, 'ping', { target: '#build' })).facts.field).toBe('target')
  expect((await world.refusal(claude, 'ping', { target: 'codex@desk' })).kind).toBe('unknown_machine')
})

test('what an operation needs: an operator may read, not send; nobody else does without', async () => {
  const mute = await world.session(await world.account('mute', { send: false, read: false }))
  const id = await world.letter(claude, 'codex')
  const requests: { [N in OperationName]?: RequestOf<N> } = {
    inbox: {},
    get: { message_id: id },
    unread: {},
    sent: {},
    thread: { message_id: id },
    search: { query: 'x' },
    receipts: {},
    directory: {},
    ping: { target: 'claude' },
  }
  for (const [name, request] of Object.entries(requests) as [OperationName, never][]) {
    expect([name, (await world.refusal(mute, name, request)).facts.need]).toEqual([name, 'mail:read'])
    await world.call(boss, name, request)
  }
  for (const name of ['ack', 'close', 'reopen', 'claim'] as const)
    expect((await world.refusal(mute, name, { message_id: id })).facts.need).toBe('mail:read')
  for (const who of [mute, boss])
    expect((await world.refusal(who, 'send', { to: 'claude', subject: '', body: '' })).facts.need).toBe('mail:send')
  await world.call(mute, 'whoami', {})
  await world.call(mute, 'status', {})
})
