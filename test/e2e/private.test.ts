// A private account at every door: HTTP, the socket, MCP, the command line. Who may not see it is told what it is told of nobody.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { DOORS, type DoorName } from './support/actor.ts'
import { fresh } from './support/caller.ts'
import { Mailbox } from './support/mailbox.ts'

setDefaultTimeout(60_000)

let mailbox: Mailbox
let ann: string
let session: string
beforeAll(async () => {
  mailbox = await Mailbox.start()
  ann = await mailbox.account('ann')
  const shy = await mailbox.account('shy', { private: true })
  session = String((await mailbox.post('/mail/whoami', shy, {})).body.address_text)
})
afterAll(() => mailbox[Symbol.asyncDispose]())

/** Refusals name what was asked for; only that may differ. */
const neutral = (body: object, name: string) =>
  JSON.stringify(body)
    .replaceAll(name, 'NAME')
    .replaceAll(/"now":"[^"]*"/g, '')

test.each([...DOORS])('%s: not in the directory, and errors are those of nobody', async (door: DoorName) => {
  const actor = await mailbox.actor(await mailbox.account(fresh('eve')))
  const directory = await actor.ask(door, 'directory')
  expect(JSON.stringify(directory)).not.toContain('shy')
  for (const [op, request] of [
    ['send', (to: string) => ({ to, subject: 's', body: 'b' })],
    ['ping', (target: string) => ({ target })],
  ] as const) {
    if (op === 'ping' && door.startsWith('mcp')) continue // no tool
    const [hidden, nobody] = [
      await actor.call({ door, op, request: request('shy') }),
      await actor.call({ door, op, request: request('nob') }),
    ]
    expect(hidden.status).toBe(nobody.status)
    expect(neutral(hidden.body, 'shy')).toBe(neutral(nobody.body, 'nob'))
    const there = await actor.call({ door, op, request: request(session) })
    expect(JSON.stringify(there.body)).toContain('no account shy')
  }
  await actor.end()
})

test('contacts, rooms, stats and @all over HTTP; the operator sees it, and so does whom it writes to', async () => {
  for (const op of ['contacts', 'rooms', 'directory'])
    expect(JSON.stringify((await mailbox.post(`/mail/${op}`, ann, {})).body)).not.toContain('shy')
  expect((await mailbox.post('/mail/stats', ann, { target: 'shy' })).body).toMatchObject({
    kind: 'unknown_participant',
  })
  const { body } = await mailbox.post('/mail/contacts', mailbox.operatorKey, {})
  expect(JSON.stringify(body)).toContain('"id":"shy"')
  const { secret } = (await mailbox.admin('participant/rotate', { id: 'shy' })) as { secret: string }
  await mailbox.post('/mail/send', secret, { to: 'ann', subject: 's', body: 'b' })
  expect(JSON.stringify((await mailbox.post('/mail/contacts', ann, {})).body)).toContain('"id":"shy"')
  // and it stays so over a restart
  await mailbox.down('SIGKILL')
  await mailbox.up()
  expect(JSON.stringify((await mailbox.post('/mail/contacts', ann, {})).body)).toContain('"id":"shy"')
  expect((await mailbox.post('/mail/send', ann, { to: 'shy', subject: 's', body: 'b' })).status).toBe(200)
})
