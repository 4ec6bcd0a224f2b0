// A person at matrix-nio over libolm, pinned by the device: both ways, another implementation of the encryption reads and writes.
import { expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Synapse } from '../support/synapse.ts'
import { type Answer, Machine, until } from './link-machines.ts'

test('mail to and from a person at matrix-nio', async () => {
  await using synapse = await Synapse.start()
  await using desk = await Machine.start(synapse, 'nora', 'codex')
  await synapse.user('nils', 'pw-nils')
  const store = join(desk.box.root, 'nio')
  mkdirSync(store)
  const script = join(import.meta.dir, 'nio-process.py')
  // Debian's python has it, whichever one is first on the PATH
  const child = Bun.spawn(
    ['/usr/bin/python3', script, synapse.url, '@nils:localhost', 'pw-nils', '@nora:localhost', store],
    {
      env: { PATH: process.env.PATH ?? '', HOME: desk.box.root },
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'inherit',
    },
  )
  try {
    const told: Answer[] = []
    void (async () => {
      let rest = ''
      for await (const chunk of child.stdout) {
        rest += Buffer.from(chunk).toString()
        const lines = rest.split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) if (line.startsWith('{')) told.push(JSON.parse(line))
      }
    })()
    const hear = (what: string, is: (one: Answer) => unknown) => until(what, async () => told.find(is), 60_000)
    const { user, key: fingerprint } = await hear('its key', (one) => one.key)
    const peer = { name: 'nils', user, fingerprint, person: true, accounts: ['codex'] }
    expect(await desk.box.admin('link/peer/add', peer)).toMatchObject({ by: 'device', state: 'ready' })
    child.stdin.write('go on\n')
    child.stdin.flush()
    const mail = await until(
      'the mail',
      async () => (await desk.inbox()).find((one) => one.body === 'hello from libolm'),
      60_000,
    )
    expect(mail).toMatchObject({ attested_by: 'nils', to_text: 'codex' })
    await desk.agent.ask('http', 'send', { reply_to: mail.message_id, body: 'hello from vodozemac' })
    const answer = await hear('the answer', (one) => one.body?.includes('vodozemac'))
    expect(answer).toEqual({ body: '[codex] hello from vodozemac', sender: '@nora:localhost', decrypted: true })
    expect(told.filter((one) => one.undecryptable)).toEqual([])
    expect((await desk.status()).undecryptable).toEqual([])
  } finally {
    child.kill()
    await child.exited
  }
}, 180_000)
