// Who may have whom started: one function for every door, which holds also where many ask at once.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { ADMINISTER } from '../../../../src/engine/admin/admin.ts'
import type { Caller } from '../../../../src/engine/mail.ts'
import { Refusal } from '../../../../src/wire/refusal.ts'
import { notes, Workshop } from './workshop.ts'

let shop: Workshop
let peer: Caller
beforeEach(async () => {
  shop = await Workshop.open()
  peer = await shop.world.session(await shop.world.account('peer', { dispatch: true }))
})
afterEach(() => shop[Symbol.asyncDispose]())

const letter = { to: 'ada', subject: 's', body: 'b', dispatch: 'resume' } as const
const rule = async (caller: Caller, request: Parameters<Workshop['world']['call']>[2] = letter) => {
  const refusal = await shop.world.refusal(caller, 'send', request as typeof letter)
  return [refusal.kind, refusal.facts.rule].filter(Boolean).join(' ')
}

test('the rules, one by one, for a letter and for a wake; what is refused stores nothing', async () => {
  const { world } = shop
  const set = (change: object) => ADMINISTER['agent/set'](world.mail, { id: 'ada', ...change })
  const head = world.store.head
  await world.account('ada')
  expect(await rule(shop.person)).toBe('not_an_agent')
  expect(await rule(shop.person, { ...letter, to: 'nobody' })).toBe('unknown_participant')
  await shop.agent('ada', ['reply'])
  const plain = await world.session(await world.account('plain'))
  expect(await rule(plain)).toBe('permission_denied')
  expect(await rule(peer)).toBe('dispatch_refused allow')
  await set({ allow: ['Peer'], block: ['peer'] })
  expect(await rule(peer)).toBe('dispatch_refused block')
  await set({ block: ['pat'] })
  expect(await rule(shop.person)).toBe('dispatch_refused block')
  await set({ block: [], per_day: 0 })
  expect(await rule(peer)).toBe('daily_cap')
  await set({ per_day: 10 })
  await ADMINISTER['dispatch/pause'](world.mail, { id: 'ada', reason: 'frozen' })
  expect(await rule(peer)).toBe('dispatch_paused')
  expect((await world.refusal(peer, 'dispatch_wake', { target: 'ada' })).facts.reason).toBe('frozen')
  await ADMINISTER['dispatch/resume'](world.mail, { id: 'ada' })
  await ADMINISTER['dispatch/pause'](world.mail, { reason: 'all of it' })
  expect(await rule(peer)).toBe('dispatch_paused')
  await ADMINISTER['dispatch/resume'](world.mail, {})
  for (const to of [['ada', 'peer'], 'ada/s-00000000', '#none', '@all'])
    expect(await rule(shop.person, { ...letter, to: to as string })).not.toBe('')
  expect(world.store.head).toBe(head)
  expect(world.store.dispatches.open()).toEqual([])
  expect((await world.call(peer, 'send', letter)).dispatch).toMatchObject({ agent: 'ada', state: 'queued', depth: 1 })
})

test('fifty at once: the cap lets as many through as it says, each is done once, in order, one at a time', async () => {
  const cwd = await shop.agent('ada', ['reply'], { per_day: 12, allow: ['peer'] })
  const asked = await Promise.all(
    Array.from({ length: 50 }, (_, at) =>
      at % 2 === 0
        ? shop.world.call(shop.person, 'send', { ...letter, body: `${at}` }).catch((error) => error)
        : shop.world
            .call(peer, 'send', { ...letter, body: `${at}`, idempotency_key: `k${at}` })
            .catch((error) => error),
    ),
  )
  const refused = asked.filter((one) => one instanceof Refusal)
  expect(refused).toHaveLength(38)
  expect(new Set(refused.map(({ kind }) => kind))).toEqual(new Set(['daily_cap']))
  const ids = asked.flatMap((one) => (one instanceof Refusal ? [] : [one.dispatch?.id ?? 0]))
  for (const id of ids) expect((await shop.done(id, 60_000)).dispatch.outcome).toBe('replied')
  const began = notes(cwd, 'begin').map((line) => Number(line.split(' ')[1]))
  expect(began).toEqual([...ids].sort((a, b) => a - b))
  expect(notes(cwd, 'OVERLAP')).toEqual([])
}, 60_000)

test('two agents of one folder do not work in it together', async () => {
  const cwd = await shop.agent('ada', ['slow'])
  await shop.agent('ben', ['slow'], { cwd })
  const ids = [await shop.dispatch('ada'), await shop.dispatch('ben'), await shop.dispatch('ada')].map(
    ({ dispatch }) => dispatch?.id ?? 0,
  )
  for (const id of ids) expect((await shop.done(id)).dispatch.outcome).toBe('replied')
  expect(notes(cwd, 'OVERLAP')).toEqual([])
})

test('a pause holds what waits; what is stopped while it waits is never started', async () => {
  const cwd = await shop.agent('ada', ['slow', 'reply'])
  const [first, second, third] = [
    await shop.dispatch('ada'),
    await shop.dispatch('ada'),
    await shop.dispatch('ada'),
  ].map(({ dispatch }) => dispatch?.id ?? 0)
  await ADMINISTER['dispatch/pause'](shop.world.mail, { reason: 'wait' })
  expect((await shop.done(first ?? 0)).dispatch.outcome).toBe('replied')
  await Bun.sleep(300)
  expect((await shop.show(second ?? 0)).dispatch.state).toBe('queued')
  await shop.world.call(shop.person, 'dispatch_stop', { id: third ?? 0 })
  expect((await shop.done(third ?? 0)).dispatch).toMatchObject({ outcome: 'stopped', attempts: 0 })
  await ADMINISTER['dispatch/resume'](shop.world.mail, {})
  expect((await shop.done(second ?? 0)).dispatch.outcome).toBe('replied')
  expect(notes(cwd, 'begin')).toHaveLength(2)
})

test('what was answered or closed before its turn is not started', async () => {
  const cwd = await shop.agent('ada', ['reply'])
  await ADMINISTER['dispatch/pause'](shop.world.mail, { id: 'ada', reason: 'wait' })
  await ADMINISTER['dispatch/resume'](shop.world.mail, { id: 'ada' })
  const account = shop.world.store.registry.account('ada')
  if (!account) throw new Error('no ada')
  const ada = await shop.world.session(account)
  await shop.agent('ben', ['slow'], { cwd })
  await shop.dispatch('ben')
  await Bun.sleep(50)
  const sent = await shop.dispatch('ada')
  await shop.world.call(ada, 'ack', { message_id: sent.message_id })
  expect((await shop.done(sent.dispatch?.id ?? 0)).dispatch).toMatchObject({ outcome: 'closed', attempts: 0 })
})

test('the same dispatch again is one dispatch', async () => {
  await shop.agent('ada', ['reply'])
  const request = { ...letter, idempotency_key: 'once' }
  const [one, two] = await Promise.all([
    shop.world.call(shop.person, 'send', request),
    shop.world.call(shop.person, 'send', request),
  ])
  expect(two.message_id).toBe(one.message_id)
  expect(two.dispatch?.id).toBe(one.dispatch?.id ?? 0)
  expect((await shop.world.refusal(shop.person, 'send', { ...request, dispatch: 'fresh' })).kind).toBe(
    'idempotency_conflict',
  )
  await shop.done(one.dispatch?.id ?? 0)
  expect(await shop.world.call(shop.person, 'dispatch_status', {})).toMatchObject({ dispatches: [{ state: 'done' }] })
})

test('who may see a dispatch, and who may stop it', async () => {
  await shop.agent('ada', ['hang'], { allow: ['peer'] })
  const { dispatch } = await shop.world.call(peer, 'send', letter)
  const id = dispatch?.id ?? 0
  const stranger = await shop.world.session(await shop.world.account('stranger'))
  expect((await shop.world.refusal(stranger, 'dispatch_show', { id })).kind).toBe('unknown_dispatch')
  expect((await shop.world.refusal(stranger, 'dispatch_stop', { id })).kind).toBe('unknown_dispatch')
  expect((await shop.world.call(stranger, 'dispatch_status', {})).dispatches).toEqual([])
  const account = shop.world.store.registry.account('ada')
  if (!account) throw new Error('no ada')
  const ada = await shop.world.session(account)
  expect((await shop.world.call(ada, 'dispatch_show', { id })).dispatch.subject).toBe('s')
  expect((await shop.world.refusal(ada, 'dispatch_stop', { id })).kind).toBe('permission_denied')
  await shop.world.call(peer, 'dispatch_stop', { id })
  for (const end = performance.now() + 5_000; performance.now() < end; await Bun.sleep(20))
    if ((await shop.world.call(peer, 'dispatch_show', { id })).dispatch.state === 'done') return
  throw new Error('it did not stop')
})

const PING = "[AIPASS-TEST — do not update memories, do not execute, reply 'ack' only]"

test('a ping letter is answered and closed by the mailbox, and nobody is started', async () => {
  const cwd = await shop.agent('ada', ['reply'])
  await ADMINISTER['agent/set'](shop.world.mail, { id: 'ada', per_day: 0 })
  const sent = await shop.world.call(shop.person, 'send', { ...letter, body: `hello\n  ${PING}  \n` })
  expect(sent.dispatch).toEqual({ agent: 'ada', state: 'ping' })
  const plain = await shop.world.call(peer, 'send', { to: 'ada', subject: 'p', body: PING })
  for (const [caller, { message_id }] of [
    [shop.person, sent],
    [peer, plain],
  ] as const) {
    let answers: { from_text: string; body: string; reply_to: string | null }[] = []
    for (const end = performance.now() + 5_000; answers.length === 0 && performance.now() < end; await Bun.sleep(20))
      answers = (await shop.world.call(caller, 'inbox', {})).messages.filter(({ reply_to }) => reply_to === message_id)
    expect(answers).toMatchObject([{ body: 'ack' }])
    expect(answers[0]?.from_text).toStartWith('mail4agent/')
    const { receipts } = await shop.world.call(caller, 'receipts', { message_id })
    expect(receipts[0]?.deliveries).toMatchObject([{ state: 'closed', close_reason: 'acknowledged' }])
  }
  expect(notes(cwd, 'begin')).toEqual([])
})
