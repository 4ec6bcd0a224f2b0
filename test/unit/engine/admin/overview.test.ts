// What an operator sees of the whole mailbox: counts per account, any mailbox and all that was sent, newest first, a page at a time.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { administer } from '../../../../src/engine/admin/admin.ts'
import type { LinkSeat } from '../../../../src/engine/link.ts'
import type { Caller } from '../../../../src/engine/mail.ts'
import { send } from '../../../../src/engine/send.ts'
import { addAccount, addSession } from '../../../support/population.ts'
import { openOffice, refusal } from './office.ts'

type Office = Awaited<ReturnType<typeof openOffice>>
let office: Office
let claude: Caller
let codex: Caller
beforeEach(async () => {
  office = await openOffice()
  const caller = async (name: string): Promise<Caller> => {
    const account = await addAccount(office.store, name)
    return { account, session: await addSession(office.store, account) }
  }
  ;[claude, codex] = [await caller('claude'), await caller('codex')]
})
afterEach(() => office.close())

const write = (by: Caller, to: string | string[], subject: string, body = 'body') =>
  send(office.mail, by, { to, subject, body })
const ofAccount = async (id: string) => (await office.run('overview', {})).accounts.find((one) => one.id === id)

test('counts what an account and its live sessions have not closed, and for how long', async () => {
  await write(claude, 'codex', 'one')
  await write(claude, `codex/${codex.session.name}`, 'two')
  expect(await ofAccount('codex')).toMatchObject({
    kind: 'agent',
    live_sessions: 1,
    unread: 1,
    oldest_unread_age_secs: 0,
    session_unread: 1,
    doorbell: null,
  })
  office.gone.add(codex.session.id)
  expect(await ofAccount('codex')).toMatchObject({ live_sessions: 0, unread: 1, session_unread: 0 })
})

test('what the only session wrote to a room is unread to the others alone', async () => {
  await office.run('room', { id: 'build' })
  for (const participant of ['claude', 'codex']) await office.run('room/member/add', { room: 'build', participant })
  await write(claude, '#build', 'red')
  expect(await ofAccount('claude')).toMatchObject({ unread: 0, oldest_unread_age_secs: null })
  expect(await ofAccount('codex')).toMatchObject({ unread: 1 })
  await addSession(office.store, claude.account)
  expect(await ofAccount('claude')).toMatchObject({ unread: 1 })
})

test('pages by name, and says how a doorbell does and which parts are off', async () => {
  await office.run('listener', { account: 'claude', url: 'http://127.0.0.1:9/' })
  const first = await office.run('overview', { limit: 2 })
  expect(first.accounts.map(({ id }) => id)).toEqual(['claude', 'codex'])
  expect(first).toMatchObject({ has_more: true, after: 'codex' })
  expect(first.accounts[0]?.doorbell).toMatchObject({ pending: 2, last_error: 'connection refused' })
  expect(first.parts.wake).toEqual({ state: 'off', note: null })
  const rest = await office.run('overview', { limit: 2, after: 'codex' })
  expect(rest.accounts.map(({ id }) => id)).toEqual(['operator'])
})

test('other machines: off, on with how many, and in trouble where a key has changed or the link is down', async () => {
  type Status = Awaited<ReturnType<LinkSeat['status']>>
  const peer = {
    name: 'desk',
    user: '@desk:example.org',
    by: 'device' as const,
    fingerprint: 'abcd',
    person: false,
    accounts: ['*'],
    rooms: [],
    shared: [],
    wake: false,
    dispatch: false,
    state: 'ready' as const,
    reason: null,
    queued: 0,
    under_way: 0,
  }
  const on = { state: 'on' as const, reason: null, identity: null, last_sync: null, undecryptable: [], quarantined: [] }
  const partOf = async (status: Status) => {
    const link: LinkSeat = {
      machine: () => null,
      prepare: async () => {},
      fate: () => null,
      warning: () => undefined,
      status: async () => status,
      chat: () => Promise.reject(new Error('not here')),
      administer: () => Promise.reject(new Error('not here')),
    }
    return (await administer({ ...office.mail, link }, 'overview', office.operator, {})).parts.link
  }
  expect(await partOf(null)).toEqual({ state: 'off', note: null })
  expect(await partOf({ ...on, peers: [{ ...peer, queued: 2 }] })).toEqual({
    state: 'on',
    note: '1 machine, 2 waiting to be sent',
  })
  expect(await partOf({ ...on, peers: [{ ...peer, state: 'alarm' }] })).toEqual({
    state: 'trouble',
    note: '1 machine, the key of desk has changed',
  })
  expect(await partOf({ ...on, state: 'down', reason: 'no route', peers: [] })).toEqual({
    state: 'trouble',
    note: 'no route',
  })
})

test('waking: off, on with what is due, and in trouble where an agent that runs was not woken and has read nothing', async () => {
  const due = new Map<number, number>()
  const wakes = { ...office.mail.wakes, doors: ['a'], silent: false, due: (box: number) => due.get(box) ?? 0 }
  const partOf = async (more = {}) =>
    (await administer({ ...office.mail, wakes: { ...wakes, ...more } }, 'overview', office.operator, {})).parts.wake
  expect(await partOf({ silent: true })).toEqual({ state: 'off', note: null })
  expect(await partOf()).toEqual({ state: 'on', note: null })

  await write(claude, 'codex', 'one')
  const { box } = codex.account
  const [message] = office.store.events(0, 9).map(({ id }) => id)
  const wake = { box, message: message ?? 0, count: 1, outcome: 'no_door', door: null, at: 1, ms: 1, tried: [] }
  await office.store.wakes.addLog(wake)
  await office.store.wakes.setDue({ box, first: 1, refused: [] })
  due.set(box, 1)
  const note = '1 mailbox has letters that have woken nobody'
  expect(await partOf()).toEqual({ state: 'on', note }) // no session of it runs
  const step = { door: 'a', session: codex.session.name, outcome: 'refused', detail: 'no', ms: 1 }
  await office.store.wakes.addLog({ ...wake, outcome: 'refused', tried: [step] })
  expect(await partOf()).toEqual({ state: 'trouble', note: `could not wake codex; ${note}` })
  await office.store.open(codex.account, codex.session, { ids: [wake.message] })
  due.clear()
  expect(await partOf()).toEqual({ state: 'on', note: null })
})

test('a mailbox shows mail to the account, its sessions and its rooms, newest first, and leaves it as it is', async () => {
  await office.run('room', { id: 'build' })
  for (const participant of ['claude', 'codex']) await office.run('room/member/add', { room: 'build', participant })
  for (const [to, subject] of [
    ['codex', 'first'],
    [`codex/${codex.session.name}`, 'second'],
    ['#build', 'third'],
  ] as const)
    await write(claude, to, subject)
  const page = await office.run('mailbox', { account: 'codex', limit: 2 })
  expect(page.letters.map(({ subject, state }) => `${subject} ${state}`)).toEqual(['third new', 'second new'])
  const rest = await office.run('mailbox', { account: 'CODEX', limit: 2, cursor: page.cursor })
  expect(rest.letters.map(({ subject }) => subject)).toEqual(['first'])
  expect(rest.has_more).toBe(false)
  expect((await office.run('mailbox', { account: 'codex', state: 'closed' })).letters).toEqual([])
  expect(office.store.delivery(1, [codex.account.box])?.notified ?? null).toBeNull()
})

test('a room letter that siblings have left open is one letter', async () => {
  await office.run('room', { id: 'build' })
  for (const participant of ['claude', 'codex']) await office.run('room/member/add', { room: 'build', participant })
  const siblings = [await addSession(office.store, codex.account), await addSession(office.store, codex.account)]
  await write(claude, '#build', 'red')
  const id = office.store.head
  await office.store.settle(codex.account, codex.session, [id], 'acknowledged')
  expect(siblings.map(({ box }) => office.store.openCount(box))).toEqual([1, 1])
  expect((await office.run('mailbox', { account: 'codex' })).letters).toHaveLength(1)
})

test('all that was sent, or by one account, with the states of the copies; long letters by their beginning', async () => {
  await write(claude, ['codex', 'operator'], 'both', `${'x'.repeat(239)}😀 and on`)
  await write(codex, 'claude', 'back')
  const { letters } = await office.run('traffic', {})
  expect(letters.map(({ subject }) => subject)).toEqual(['back', 'both'])
  expect(letters[1]).toMatchObject({ to: ['codex', 'operator'], states: { new: 2, opened: 0, closed: 0 } })
  expect(letters[1]?.preview.isWellFormed()).toBe(true)
  expect(letters[1]?.preview).toHaveLength(240)
  const own = await office.run('traffic', { from: 'claude' })
  expect(own.letters.map(({ subject }) => subject)).toEqual(['both'])
  expect(await refusal(office.run('traffic', { from: 'nobody' }))).toMatchObject({ kind: 'unknown_participant' })
  expect(await refusal(office.run('mailbox', { account: 'x', cursor: '00000000.1' }))).toMatchObject({
    kind: 'unknown_participant',
  })
  expect(await refusal(office.run('traffic', { cursor: '00000000.1' }))).toMatchObject({ kind: 'cursor_expired' })
})

test('operators alone', async () => {
  for (const act of [
    office.run('overview', {}, claude),
    office.run('mailbox', { account: 'codex' }, claude),
    office.run('traffic', {}, claude),
  ])
    expect(await refusal(act)).toMatchObject({ kind: 'permission_denied' })
})
