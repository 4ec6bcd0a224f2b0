// notify: asked by a person, and by an agent, for which nothing is ever shown.
import { expect, test } from 'bun:test'
import { World } from './world.ts'

test('a person may try and switch, an agent may only ask', async () => {
  const world = await World.open()
  const person = await world.session(await world.account('pat', {}, 'person'))
  const agent = await world.session(await world.account('codex'))
  expect(await world.call(person, 'notify', { do: 'on' })).toMatchObject({ account: 'pat', failure: null })
  expect(await world.call(agent, 'notify', { do: 'status' })).toMatchObject({ account: 'codex' })
  for (const word of ['test', 'on', 'off'] as const) {
    const refused = await world.refusal(agent, 'notify', { do: word })
    expect(refused).toMatchObject({ kind: 'permission_denied', hint: expect.stringContaining('--as') })
  }
  expect(await world.refusal(person, 'notify', { do: 'test' })).toMatchObject({ kind: 'not_shown', exit: 1 })
  await world.close()
})
