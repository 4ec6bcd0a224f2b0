// Mail over a wire that loses, doubles, delays and reorders: each letter arrives once, in order; and what a peer may not do.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { chunksOf, envelopesOf, type MailEnvelope } from '../../../src/link/mail/envelope.ts'
import { calm, Side } from './pair.ts'

async function pair(allow: object = {}): Promise<[Side, Side, () => Promise<void>]> {
  const laptop = await Side.open('claude', 'desk')
  const desk = await Side.open('codex', 'laptop', allow)
  const close = async () => {
    await laptop.close()
    await desk.close()
  }
  return [laptop, desk, close]
}

const fates = fc.array(fc.constantFrom('take', 'lose', 'twice', 'late', 'broken'), { minLength: 5, maxLength: 60 })

test('whatever the wire does, each letter arrives once and in order', async () => {
  await fc.assert(
    fc.asyncProperty(fates, async (plan) => {
      const [laptop, desk, close] = await pair()
      const sent: string[] = []
      const late: object[] = []
      for (const fate of plan) {
        laptop.broken = fate === 'broken'
        const subject = `s${sent.length}`
        await laptop.world.call(laptop.agent, 'send', { to: 'codex@desk', subject, body: 'b' })
        sent.push(subject)
        await Bun.sleep(0)
        for (const content of laptop.wire.splice(0)) {
          if (fate === 'take' || fate === 'twice') await desk.take(content)
          if (fate === 'twice') await desk.take(content)
          if (fate === 'late') late.push(content)
        }
      }
      for (const content of late.reverse()) await desk.take(content)
      await calm(laptop, desk)
      expect(await desk.subjects()).toEqual(sent)
      await close()
    }),
    { numRuns: 15 },
  )
})

test('opened and closed go back, and an answer keeps both threads together', async () => {
  const [laptop, desk, close] = await pair()
  const sent = await laptop.world.call(laptop.agent, 'send', { to: 'codex@desk', subject: 'q', body: 'b' })
  await calm(laptop, desk)
  const [letter] = (await desk.world.call(desk.agent, 'inbox', {})).messages
  expect(letter).toMatchObject({ subject: 'q', attested_by: 'laptop', hop: 1 })
  await desk.world.call(desk.agent, 'send', { reply_to: letter?.message_id ?? null, body: 'a', close: true })
  await calm(laptop, desk)
  const [answer] = (await laptop.world.call(laptop.agent, 'inbox', {})).messages
  expect(answer).toMatchObject({ subject: 'Re: q', reply_to: sent.message_id, thread: sent.thread, hop: 3 })
  const { receipts } = await laptop.world.call(laptop.agent, 'receipts', { message_id: sent.message_id })
  expect(receipts[0]?.deliveries[0]).toMatchObject({ state: 'closed', close_reason: 'replied' })
  await close()
})

/** The reasons of the refusals that a side has sent. */
const reasonsOn = (wire: readonly object[]): string[] =>
  wire.flatMap((frame) =>
    'data' in frame
      ? envelopesOf(String(frame.data)).known.flatMap((one) => (one.kind === 'receipt' ? [one.reason ?? ''] : []))
      : [],
  )

/** What a peer that is pinned but no friend sends: whatever it likes. */
const forged = (more: object = {}): MailEnvelope => ({
  v: 1,
  kind: 'mail',
  id: `m4a_${'0'.repeat(23)}1`,
  from: { account: 'claude', session: 's-00aa' },
  to: ['codex'],
  subject: 'forged',
  body: 'b',
  thread: { of: 'me', id: `m4a_${'0'.repeat(23)}1` },
  reply_to: null,
  correlation: null,
  refs: [],
  hop: 0,
  ...more,
})
const framed = (seq: number, envelope: object, stream = 'f') => {
  const [chunk] = chunksOf([JSON.stringify(envelope)])
  return { v: 1, kind: 'frame', stream, seq, base: 1, ...chunk }
}

test('a peer cannot write outside its list, name another machine, repeat an id, or send what is no envelope', async () => {
  const [, desk, close] = await pair({ accounts: ['codex'] })
  await desk.world.account('gemini')
  await desk.take(framed(1, forged({ to: ['gemini'], id: `m4a_${'1'.repeat(24)}` })))
  await desk.take(framed(2, forged({ to: ['codex@elsewhere'], id: `m4a_${'2'.repeat(24)}` })))
  await desk.take(
    framed(3, forged({ from: { account: 'codex@desk', session: 's-00aa' }, id: `m4a_${'3'.repeat(24)}` })),
  )
  await desk.take(framed(4, forged()))
  await desk.take(framed(5, forged({ subject: 'the same id again' })))
  await desk.take(framed(6, { v: 2, kind: 'wake', account: 'codex' }))
  await desk.take({ v: 1, kind: 'dispatch', to: 'codex' })
  await desk.take('garbage')
  expect(await desk.subjects()).toEqual(['forged'])
  const [letter] = (await desk.world.call(desk.agent, 'inbox', {})).messages
  expect(letter?.from_text).toBe('claude@laptop/s-00aa')
  desk.lane.kick()
  for (let tries = 0; tries < 500 && reasonsOn(desk.wire).length < 2; tries++) await Bun.sleep(2)
  const told = reasonsOn(desk.wire)
  expect(told.map((reason) => reason.split(':')[0])).toEqual(['peer_not_allowed', 'malformed'])
  await close()
})

test('hops count on from the message answered, whatever the envelope says; beyond the limit nothing is stored', async () => {
  const [, desk, close] = await pair()
  const sent = await desk.world.call(desk.agent, 'send', { to: 'claude@laptop', subject: 'x', body: 'b' })
  await desk.take(framed(1, forged({ hop: 0, reply_to: { of: 'you', id: sent.message_id } })))
  await desk.take(framed(2, forged({ hop: 999, id: `m4a_${'4'.repeat(24)}`, subject: 'too far' })))
  await desk.take(framed(3, forged({ hop: 30, id: `m4a_${'5'.repeat(24)}`, subject: 'quiet' })))
  const { messages } = await desk.world.call(desk.agent, 'inbox', {})
  expect(messages.map(({ subject, hop, wake_suppressed }) => ({ subject, hop, wake_suppressed }))).toEqual([
    { subject: 'forged', hop: 1, wake_suppressed: undefined },
    { subject: 'quiet', hop: 31, wake_suppressed: 'hop' },
  ])
  await close()
})

test('mail of a peer that may not wake wakes nobody', async () => {
  const [, desk, close] = await pair({ wake: false })
  await desk.take(framed(1, forged()))
  const [letter] = (await desk.world.call(desk.agent, 'inbox', {})).messages
  expect(letter?.wake_suppressed).toBe('peer')
  await close()
})

test('what came from another machine goes on to none, also not through a shared room', async () => {
  const [, desk, close] = await pair({ rooms: ['build'] })
  const room = await desk.world.room('build', desk.agent.account)
  await desk.world.store.join(room, await desk.remotes.account('#build', 'laptop'))
  await desk.take(framed(1, forged({ to: ['#build'] })))
  expect(await desk.subjects()).toEqual(['forged'])
  expect(desk.links.outbox.counts('laptop')).toEqual({ queued: 0, underWay: 0 })
  await desk.world.call(desk.agent, 'send', { to: '#build', subject: 'ours', body: 'b' })
  await Bun.sleep(5)
  expect(desk.links.outbox.counts('laptop').underWay).toBe(1)
  await close()
})

test('accounts of other machines are in no list, and nobody can name one as its own', async () => {
  const [, desk, close] = await pair()
  await desk.take(framed(1, forged()))
  expect(desk.world.store.registry.accounts().map(({ name }) => name)).toEqual(['codex'])
  expect(desk.world.store.registry.remotes().map(({ name }) => name)).toEqual(['claude@laptop'])
  const operator = await desk.world.session(await desk.world.account('op', { operator: true }))
  const { participants } = await desk.world.call(operator, 'directory', {})
  expect(participants.map(({ id }) => id)).toEqual(['codex', 'op'])
  const all = await desk.world.call(operator, 'send', { to: '@all', subject: 's', body: 'b' })
  expect(all.results.map(({ to_text }) => to_text)).toEqual(['codex'])
  await close()
})

test('an alias of the sender stands for an address of another machine from the first letter on', async () => {
  const [laptop, desk, close] = await pair()
  await laptop.world.call(laptop.agent, 'alias', { name: 'far', address: 'codex@desk' })
  const sent = await laptop.world.call(laptop.agent, 'send', { to: 'far', subject: 'by alias', body: 'b' })
  expect(sent.results).toMatchObject([{ ok: true, to_text: 'codex@desk' }])
  await calm(laptop, desk)
  expect(await desk.subjects()).toEqual(['by alias'])
  await close()
})

test('an agent of another machine is not started from here, and nor is one of the same name here', async () => {
  const [laptop, desk, close] = await pair()
  const boss = await laptop.world.session(await laptop.world.account('boss', { operator: true }, 'person'))
  await laptop.world.account('codex')
  const request = { to: 'codex@desk', subject: 's', body: 'b', dispatch: 'resume' } as const
  const refusal = await laptop.world.refusal(boss, 'send', request)
  expect([refusal.kind, refusal.facts.rule]).toEqual(['dispatch_refused', 'machine'])
  await calm(laptop, desk)
  expect(await desk.subjects()).toEqual([])
  expect(laptop.world.store.dispatches.open()).toEqual([])
  await close()
})
