// A homeserver that drops, reorders, repeats, redacts and answers garbage: nothing is lost, nothing comes twice, nothing falls over.
import { expect, test } from 'bun:test'
import { Synapse } from '../support/synapse.ts'
import { HostileHomeserver } from './hostile-homeserver.ts'
import { Machine, until } from './link-machines.ts'

test('mail both ways through a hostile homeserver arrives once', async () => {
  await using synapse = await Synapse.start()
  const between = new HostileHomeserver(synapse.url)
  await using laptop = await Machine.start(synapse, 'hana', 'claude', { homeserver: between.url })
  await using desk = await Machine.start(synapse, 'ivan', 'codex', { homeserver: between.url })
  await laptop.pin('desk', desk, { accounts: ['claude'] })
  await desk.pin('laptop', laptop, { accounts: ['codex'] })
  await until('ready', async () => (await laptop.peer('desk')).state === 'ready')
  between.hostile = true
  const there: string[] = []
  const back: string[] = []
  for (let index = 0; index < 60; index++) {
    await laptop.send('codex@desk', `there ${index}`, 'b')
    there.push(`there ${index}`)
    if (index % 2 === 0) {
      await desk.send('claude@laptop', `back ${index}`, 'b')
      back.push(`back ${index}`)
    }
    await Bun.sleep(40)
  }
  await Bun.sleep(5_000)
  between.hostile = false
  const subjects = async (machine: Machine) => (await machine.inbox()).map(({ subject }) => subject)
  // what was dropped is sent again when the next one has come, and in any case after ten seconds
  await until('all there', async () => (await subjects(desk)).length >= there.length, 170_000)
  await until('all back', async () => (await subjects(laptop)).length >= back.length, 170_000)
  await Bun.sleep(1_000)
  expect(await subjects(desk)).toEqual(there)
  expect(await subjects(laptop)).toEqual(back)
  for (const what of ['garbage', 'limited', 'failed', 'dropped', 'repeated'])
    expect(between.done.get(what)).toBeGreaterThan(0)
  between.stop()
}, 400_000)
