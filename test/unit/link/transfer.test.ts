// Mail of other machines is carried like any other: its writers stay those of there, and nothing of it goes out a second time.
import { expect, test } from 'bun:test'
import { importOf } from '../../../src/cli/import/exported.ts'
import { administer } from '../../../src/engine/admin/admin.ts'
import type { ImportLetter } from '../../../src/wire/transfer.ts'
import { calm, Side } from './pair.ts'

test('an export with letters to and from other machines is imported, here as there', async () => {
  const laptop = await Side.open('claude', 'desk')
  const desk = await Side.open('codex', 'laptop')
  await laptop.world.call(laptop.agent, 'send', { to: 'codex@desk', subject: 'q', body: 'a question' })
  await calm(laptop, desk)
  const [letter] = (await desk.world.call(desk.agent, 'inbox', {})).messages
  await desk.world.call(desk.agent, 'send', { reply_to: letter?.message_id ?? null, body: 'an answer', close: true })
  await calm(laptop, desk)
  const boss = await laptop.world.session(await laptop.world.account('boss', { operator: true }, 'person'))
  const { letters } = await laptop.world.call(boss, 'export', { all: true })
  const lines = letters.map((one) => importOf(one))
  expect(lines.map(({ from, deliveries }) => [from, deliveries.map(({ to }) => to)])).toEqual([
    ['claude', ['codex@desk']],
    ['codex@desk', ['claude']],
  ])

  // another laptop, which knows a desk, too, and has a codex of its own
  const other = await Side.open('claude', 'desk')
  const { world } = other
  await world.account('codex')
  const op = await world.session(await world.account('op', { operator: true }, 'person'))
  const carry = (dry_run: boolean, carried: readonly ImportLetter[] = lines) =>
    administer(world.mail, 'import', op, { source: 'mail4agent', letters: [...carried], dry_run })
  const outcomes = async (dry: boolean) => (await carry(dry)).results.map(({ outcome }) => outcome)
  expect(await outcomes(true)).toEqual(['added', 'added'])
  expect(world.store.registry.account('codex@desk')).toBeUndefined()
  expect(await outcomes(false)).toEqual(['added', 'added'])
  expect(await outcomes(false)).toEqual(['known', 'known'])
  expect(world.store.registry.account('codex@desk')).toMatchObject({
    kind: 'remote',
    can: { send: false, read: false },
  })

  const { messages } = await world.call(other.agent, 'inbox', { state: 'all' })
  expect(messages).toMatchObject([
    { from: { participant: 'codex', machine: 'desk' }, from_text: 'codex@desk', body: 'an answer' },
  ])
  const sent = (await world.call(other.agent, 'sent', {})).messages
  expect(sent).toMatchObject([{ subject: 'q', to_text: 'codex@desk' }])
  expect((await world.call(op, 'thread', { message_id: messages[0]?.message_id ?? '' })).messages).toHaveLength(2)

  // somebody's own mail later: that goes out, and nothing of what was carried in
  await world.call(other.agent, 'send', { reply_to: messages[0]?.message_id ?? null, body: 'thanks' })
  const far = await Side.open('codex', 'laptop')
  await calm(other, far)
  expect(await far.subjects()).toEqual(['Re: q'])
  for (const side of [laptop, desk, other, far]) await side.close()
})
