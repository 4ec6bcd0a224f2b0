// Carrying mail out and in: bodies byte for byte, states, times and threads; who may; what is marked; nothing twice.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { importOf } from '../../../src/cli/import/exported.ts'
import { administer } from '../../../src/engine/admin/admin.ts'
import type { Caller } from '../../../src/engine/mail.ts'
import { tellOperators } from '../../../src/engine/system.ts'
import type { RequestOf } from '../../../src/wire/operations.ts'
import type { ExportedLetter, ImportLetter } from '../../../src/wire/transfer.ts'
import { addressOf, World } from './world.ts'

type Office = { world: World; op: Caller; ann: Caller; bob: Caller; sibling: Caller }
const worlds: World[] = []
async function office(): Promise<Office> {
  const world = await World.open()
  worlds.push(world)
  const op = await world.session(await world.account('boss', { operator: true }, 'person'))
  const ann = await world.session(await world.account('ann'))
  const account = await world.account('bob')
  const [bob, sibling] = [await world.session(account), await world.session(account)]
  await world.room('build', ann.account, account)
  return { world, op, ann, bob, sibling }
}

let here: Office
let there: Office
beforeEach(async () => {
  here = await office()
  there = await office()
})
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close()
})

async function exported({ world }: Office, caller: Caller, request: RequestOf<'export'>): Promise<ExportedLetter[]> {
  const letters: ExportedLetter[] = []
  for (let cursor: string | null = null, more = true; more; ) {
    const page: Awaited<ReturnType<typeof world.call<'export'>>> = await world.call(caller, 'export', {
      ...request,
      cursor,
    })
    letters.push(...page.letters)
    cursor = page.cursor
    more = page.has_more
  }
  return letters
}
const carryIn = ({ world, op }: Office, letters: readonly ImportLetter[], more: object = {}) =>
  administer(world.mail, 'import', op, { source: 'mail4agent', letters: [...letters], ...more })
const carry = async (from: Office, to: Office) =>
  carryIn(
    to,
    (await exported(from, from.op, { all: true })).map((letter) => importOf(letter)),
  )

const BODIES = [
  'one\ntwo\n\n  three\n',
  '--flag --dispatch -- @bob',
  '@all "Subject"\n-n',
  'a\r\nb\rc\r\n',
  '👩‍👩‍👧‍👦 \u{1f1e9}\u{1f1ea} e\u0301 \u202e x\u0007\u001b[31m',
  '\ufeffwith a mark',
  '',
  'ü'.repeat(32_768),
  '"\\\u2028'.repeat(4_000),
]

test('bodies come out and go in byte for byte', async () => {
  for (const body of BODIES) await here.world.letter(here.ann, 'bob', body)
  expect((await exported(here, here.bob, {})).map((letter) => letter.body)).toEqual(BODIES)
  expect((await exported(here, here.bob, { max_bytes: 2_000 })).map((letter) => letter.body)).toEqual(BODIES)
  await carry(here, there)
  const read = await there.world.call(there.bob, 'inbox', { max_bytes: 1_000_000 })
  expect(read.messages.map((message) => message.body)).toEqual(BODIES)
  const [long] = read.messages.slice(7)
  expect((await there.world.call(there.bob, 'get', { message_id: long!.message_id })).body).toBe(BODIES[7]!)
})

test('states, times, threads and references are kept; the sender is shown as imported, and answers go to its account', async () => {
  const { world, ann, bob } = here
  const refs = [{ kind: 'file', locator: 'src/a.ts', digest: null }]
  const closed = await world.call(ann, 'send', {
    to: ['bob', '#build'],
    subject: 'one',
    body: 'b',
    refs,
    correlation: 't 7',
  })
  const reply = await world.call(bob, 'send', { reply_to: closed.message_id, body: 'done', close: true })
  const opened = await world.letter(ann, 'bob')
  await world.call(bob, 'get', { message_id: opened })
  await world.letter(ann, addressOf(bob), 'to a session')
  expect((await carry(here, there)).results.map(({ outcome }) => outcome)).toEqual(['added', 'added', 'added', 'added'])
  const inbox = await there.world.call(there.sibling, 'inbox', {})
  expect(inbox.messages.map(({ state, body, to_text }) => [state, body, to_text])).toEqual([
    ['opened', 'hello', 'bob'],
    ['new', 'to a session', 'bob'],
  ])
  const [mine] = (await there.world.call(there.sibling, 'archive', {})).messages
  expect(mine).toMatchObject({
    from: { kind: 'direct', participant: 'ann' },
    from_text: 'ann',
    subject: 'one',
    correlation: 't 7',
    refs,
    created_at: closed.created_at,
    close_reason: 'replied',
    imported: { source: 'mail4agent', id: closed.message_id },
  })
  const thread = await there.world.call(there.ann, 'thread', { message_id: mine!.message_id })
  expect(thread.messages.map(({ body, reply_to }) => [body, reply_to])).toEqual([
    ['b', null],
    ['done', mine!.message_id],
  ])
  expect(thread.messages[1]!.imported!.id).toBe(reply.message_id)
  const answer = await there.world.call(there.bob, 'send', { reply_to: inbox.messages[0]!.message_id, body: 'late' })
  expect(answer.results[0]).toMatchObject({ to_text: 'ann', ok: true })
  expect(await there.world.inbox(there.bob, { since_unix_ms: Date.parse(closed.created_at) - 1_000 })).toHaveLength(2)
})

test('a second import adds nothing, nor does one into the mailbox that it was made of', async () => {
  for (const body of ['a', 'b']) await here.world.letter(here.ann, 'bob', body)
  await carry(here, there)
  const before = there.world.store.head
  expect((await carry(here, there)).results.map(({ outcome }) => outcome)).toEqual(['known', 'known'])
  expect(there.world.store.head).toBe(before)
  expect((await carry(here, here)).results.map(({ outcome }) => outcome)).toEqual(['known', 'known'])
})

test('a dry run changes nothing, and says of each letter why it cannot be stored', async () => {
  const good: ImportLetter = { key: 'a', from: 'ann', subject: 's', body: 'b', created_at_unix_ms: 5, deliveries: [] }
  const letters: ImportLetter[] = [
    good,
    { ...good, key: 'b', from: 'nobody' },
    { ...good, key: 'c', body: 'nul\0' },
    { ...good, key: 'd', subject: 'two\nlines' },
    { ...good, key: 'e', deliveries: [{ to: 'bob', room: 'none', state: 'new' }] },
    { ...good, key: 'f', body: 'ü'.repeat(40_000) },
    good,
  ]
  const head = there.world.store.head
  const dry = await carryIn(there, letters, { dry_run: true })
  expect(dry.results.map(({ outcome, refusal }) => refusal?.kind ?? outcome)).toEqual([
    'added',
    'unknown_participant',
    'malformed',
    'malformed',
    'unknown_room',
    'too_large',
    'known',
  ])
  expect(there.world.store.head).toBe(head)
  const real = await carryIn(there, letters)
  expect(real.results.map(({ outcome }) => outcome)).toEqual(dry.results.map(({ outcome }) => outcome))
  expect(await exported(there, there.op, { all: true })).toHaveLength(1)
})

test('a thread holds together whose beginning did not come along, also in another batch', async () => {
  const of = (key: string, reply_to: string | null): ImportLetter => ({
    key,
    from: 'ann',
    subject: key,
    body: 'b',
    created_at_unix_ms: 5,
    thread: 'lost',
    reply_to,
    deliveries: [{ to: 'bob', state: 'new' }],
  })
  await carryIn(there, [of('a', 'lost'), of('b', 'a')])
  await carryIn(there, [of('c', 'gone too')])
  const [first] = (await there.world.call(there.bob, 'inbox', {})).messages
  const { messages } = await there.world.call(there.bob, 'thread', { message_id: first!.message_id })
  expect(messages.map(({ subject, reply_to }) => [subject, reply_to])).toEqual([
    ['a', null],
    ['b', first!.message_id],
    ['c', null],
  ])
  expect(new Set(messages.map(({ thread }) => thread))).toEqual(new Set([first!.message_id]))
})

test('who exports gets what it may read, and of others’ copies what it may know', async () => {
  const { world, ann, bob, sibling, op } = here
  const secret = await world.letter(ann, addressOf(bob), 'for bob alone')
  const both = await world.call(ann, 'send', { to: ['bob', 'boss'], subject: 's', body: 'both' })
  await world.letter(op, 'ann', 'from the boss')
  const bodies = async (caller: Caller, request: RequestOf<'export'> = {}) =>
    (await exported(here, caller, request)).map(({ body }) => body)
  expect(await bodies(sibling)).toEqual(['both'])
  expect(await bodies(bob)).toEqual(['for bob alone', 'both'])
  expect(await bodies(op)).toEqual(['both', 'from the boss'])
  expect(await bodies(op, { of: 'bob' })).toEqual(['for bob alone', 'both'])
  expect(await bodies(op, { all: true })).toHaveLength(3)
  expect(await bodies(ann, { of: 'ann' })).toHaveLength(3)
  expect(await bodies(bob, { message_id: secret })).toEqual(['for bob alone'])
  for (const request of [{ all: true }, { of: 'ann' }])
    expect((await world.refusal(bob, 'export', request)).kind).toBe('permission_denied')
  expect((await world.refusal(sibling, 'export', { message_id: secret })).kind).toBe('unknown_message')
  expect((await world.refusal(op, 'export', { all: true, of: 'ann' })).kind).toBe('malformed')
  const copies = async (caller: Caller) =>
    (await exported(here, caller, { message_id: both.message_id }))[0]!.deliveries.map(({ to_text }) => to_text)
  expect(await copies(ann)).toEqual(['bob', 'boss'])
  expect(await copies(bob)).toEqual(['bob'])
  expect((await world.call(bob, 'unread', {})).unread).toBe(2)
  expect((await world.call(bob, 'inbox', {})).messages.map(({ state }) => state)).toEqual(['new', 'new'])
})

test('room letters come to members, and are hidden from who is none', async () => {
  await here.world.letter(here.ann, '#build', 'posted')
  await there.world.store.leave(there.world.store.registry.room('build')!, there.bob.account)
  await carry(here, there)
  expect(await there.world.inbox(there.bob)).toEqual([])
  expect((await there.world.call(there.bob, 'unread', {})).unread).toBe(0)
  await there.world.store.join(there.world.store.registry.room('build')!, there.bob.account)
  const { messages, unread } = await there.world.call(there.bob, 'inbox', {})
  expect([messages.map(({ to_text }) => to_text), unread]).toEqual([['#build'], 1])
  expect(await there.world.inbox(there.ann)).toEqual([])
})

test('imported mail wakes nobody, and its days begin with the import', async () => {
  const { world, bob } = there
  const waiting = world.waiters.wait([bob.account.box], 50, new AbortController().signal, () => false)
  const old = { created_at_unix_ms: 5, closed_at_unix_ms: 6 }
  await carryIn(there, [
    {
      key: 'a',
      from: 'boss',
      subject: 's',
      body: ',"imported":{"source":"',
      created_at_unix_ms: 5,
      deliveries: [{ to: 'bob', state: 'new' }],
    },
    {
      key: 'b',
      from: 'ann',
      subject: 's',
      body: 'b',
      created_at_unix_ms: 5,
      deliveries: [{ to: 'bob', state: 'closed', closed_at_unix_ms: old.closed_at_unix_ms }],
    },
  ])
  expect(await waiting).toBe(false)
  expect(await world.call(bob, 'notice', { starts_turn: true })).toMatchObject({ fresh: 0 })
  expect((await world.call(bob, 'notice', {})).senders).toEqual([
    { from_text: 'boss (imported)', count: 1, person: false },
  ])
  const day = 86_400_000
  expect((await world.store.keeping.retain(Date.now() + 89 * day)).messages).toBe(0)
  expect((await world.store.keeping.retain(Date.now() + 91 * day)).messages).toBe(1)
})

test('what the mailbox itself told its operators is carried too, marked, and is of no account that could be one', async () => {
  await tellOperators(here.world.mail, { key: 'fault.1', upsert: null, subject: 'fault: store', body: 'it was full' })
  expect((await carry(here, there)).results).toMatchObject([{ outcome: 'added' }])
  const { messages } = await there.world.call(there.op, 'inbox', {})
  expect(messages).toMatchObject([
    { from_text: 'mail4agent', subject: 'fault: store', body: 'it was full', imported: { source: 'mail4agent' } },
  ])
  expect(there.world.store.registry.account('mail4agent')).toBeUndefined()
  expect((await carry(here, there)).results).toMatchObject([{ outcome: 'known' }])
})
