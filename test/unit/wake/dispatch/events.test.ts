// What becomes of a dispatch is told in the one log, in the commit that made it so, to whoever may see the dispatch.
import { expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import { happened } from '../../../../src/engine/happened.ts'
import type { Caller } from '../../../../src/engine/mail.ts'
import { DispatchEvent, MailEvent } from '../../../../src/wire/events.ts'
import { Workshop } from './workshop.ts'

function toldTo(shop: Workshop, caller: Caller): object[] {
  const { mail, store } = shop.world
  return store.events(0, 1_000).flatMap((event) => {
    const told = happened(mail, caller, event)
    if (told === null) return []
    expect(Value.Check('dispatch' in told ? DispatchEvent : MailEvent, told)).toBe(true)
    return 'dispatch' in told ? [told] : []
  })
}

test('each step, in order, with attempts, causes and the outcome', async () => {
  await using shop = await Workshop.open()
  await shop.agent('ada', ['crash', 'reply'])
  const sent = await shop.dispatch('ada')
  const { message_id } = sent
  const about = { dispatch: sent.dispatch?.id ?? 0, agent: 'ada', message_id }
  await shop.done(about.dispatch)
  const steps = [
    { kind: 'dispatch_queued', ...about },
    { kind: 'dispatch_started', attempt: 1, ...about },
    { kind: 'dispatch_attempt_ended', attempt: 1, cause: 'crashed', ...about },
    { kind: 'dispatch_started', attempt: 2, ...about },
    { kind: 'dispatch_attempt_ended', attempt: 2, cause: 'replied', ...about },
    { kind: 'dispatch_done', outcome: 'replied', ...about },
  ]
  expect(toldTo(shop, shop.person)).toMatchObject(steps)
  const agent = shop.world.store.registry.account('ada')
  if (!agent) throw new Error('no ada')
  expect(toldTo(shop, await shop.world.session(agent))).toMatchObject(steps)
  const stranger = await shop.world.session(await shop.world.account('stranger', { dispatch: true }))
  expect(toldTo(shop, stranger)).toEqual([])
  // the numbers of the one sequence ascend, mail and dispatches together
  const ids = shop.world.store.events(0, 1_000).map(({ id }) => id)
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b))
  expect(shop.world.store.head).toBe(ids.at(-1) ?? 0)
})

test('one that comes to nothing has failed; a start without a letter names none', async () => {
  await using shop = await Workshop.open()
  await shop.agent('ada', ['misconfigured'])
  const { dispatch } = await shop.world.call(shop.person, 'dispatch_wake', { target: 'ada' })
  await shop.done(dispatch.id ?? 0)
  expect(toldTo(shop, shop.person)).toMatchObject([
    { kind: 'dispatch_queued', message_id: null },
    { kind: 'dispatch_started', attempt: 1 },
    { kind: 'dispatch_attempt_ended', cause: 'misconfigured' },
    { kind: 'dispatch_failed', outcome: 'failed' },
  ])
})
