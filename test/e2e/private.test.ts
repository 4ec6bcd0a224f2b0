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

test('archive, export, receipts, closing in bulk and the stream of events know no more of it than of nobody', async () => {
  const eve = await mailbox.account('eve')
  const cal = await mailbox.account('cal', { private: true })
  const ask = async (op: string, request: object) => {
    const { status, body } = await mailbox.post(`/mail/${op}`, eve, request)
    return { status, text: neutral(body, 'NAME') }
  }
  for (const [op, request] of [
    ['archive', (name: string) => ({ written_by: name })],
    ['search', (name: string) => ({ text: 's', written_by: name })],
    ['close_all', (name: string) => ({ written_by: name })],
    ['export', (name: string) => ({ of: name })],
    ['unread', (name: string) => ({ target: name })],
    ['stats', (name: string) => ({ target: name })],
    ['alias', (name: string) => ({ name: 'mate', address: name })],
  ] as const) {
    const [hidden, nobody] = [await ask(op, request('cal')), await ask(op, request('nob'))]
    expect({ op, status: hidden.status, text: hidden.text.replaceAll('cal', 'NAME') }).toEqual({
      op,
      status: nobody.status,
      text: nobody.text.replaceAll('nob', 'NAME'),
    })
  }
  const stop = new AbortController()
  const stream = await fetch(`${mailbox.url}/events`, {
    headers: { authorization: `Bearer ${eve}` },
    signal: stop.signal,
  })
  const events = stream.body?.pipeThrough(new TextDecoderStream()).getReader()
  // it writes to another one, who answers: nothing of that is eve's
  await mailbox.post('/mail/send', cal, { to: 'ann', subject: 'between us', body: 'b' })
  await mailbox.post('/mail/send', ann, { to: 'cal', subject: 'between us', body: 'b' })
  await mailbox.post('/mail/send', ann, { to: 'eve', subject: 'for eve', body: 'b' })
  let heard = ''
  while (!heard.includes('event: sent')) heard += (await events?.read())?.value ?? ''
  stop.abort()
  expect(heard.match(/^data: /gm)).toHaveLength(1)
  for (const op of ['receipts', 'archive', 'export', 'sent', 'inbox', 'contacts', 'rooms', 'stats'])
    expect(JSON.stringify((await mailbox.post(`/mail/${op}`, eve, {})).body)).not.toContain('"cal')
})
