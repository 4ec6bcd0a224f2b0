// The ways to a device beside a password: a registration token, a login token, an access token that is there; and what is refused.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Mailbox } from '../e2e/support/mailbox.ts'
import { Synapse } from '../support/synapse.ts'
import { type Answer, until } from './link-machines.ts'

let synapse: Synapse

beforeAll(async () => {
  synapse = await Synapse.start({
    registration_requires_token: true,
    login_via_existing_session: { enabled: true, require_ui_auth: false },
  })
  const db = new Database(join(synapse.root, 'homeserver.db'))
  db.run('PRAGMA busy_timeout = 10000')
  db.run("INSERT INTO registration_tokens(token, pending, completed) VALUES('come-in-0123', 0, 0)")
  db.close()
}, 300_000)

afterAll(async () => {
  await synapse?.[Symbol.asyncDispose]()
})

const on = (box: Mailbox) => until('on', async () => ((await box.admin('link/status', {})) as Answer).state === 'on')
const filesOf = (box: Mailbox) =>
  readdirSync(join(box.data, 'link')).map((name) => readFileSync(join(box.data, 'link', name), 'latin1'))

/** A session that a person made with a client, by the same token. */
async function session(username: string): Promise<Answer> {
  const body = { username, password: `pw-${username}-0123456789` }
  const post = async (auth: object): Promise<Answer> =>
    (
      await fetch(`${synapse.url}/_matrix/client/v3/register`, {
        method: 'POST',
        body: JSON.stringify({ ...body, ...auth }),
      })
    ).json()
  const { session } = await post({})
  await post({ auth: { type: 'm.login.registration_token', token: 'come-in-0123', session } })
  return post({ auth: { type: 'm.login.dummy', session } })
}

test('a registration token makes the user; a wrong one is refused, and leaves nothing behind', async () => {
  await using box = await Mailbox.start()
  const ask = (secret: string) =>
    box.admin('link/setup', { homeserver: synapse.url, way: 'registration_token', user: 'rita', secret })
  const refused = await ask('no-such-token').catch((error) => error.message)
  expect(refused).toContain('Invalid registration token')
  expect(existsSync(join(box.data, 'link'))).toBe(false)
  expect(await ask('come-in-0123')).toMatchObject({ user: '@rita:localhost' })
  await on(box)
  const { identity } = (await box.admin('link/status', {})) as Answer
  expect(identity.account_key).toBeString() // the password that was made for it signs its device
  for (const file of filesOf(box)) expect(file).not.toContain('come-in-0123')
}, 120_000)

test('an access token that is there, and a login token, bring the device that they are for', async () => {
  const made = await session('simon')
  await using first = await Mailbox.start()
  const request = { homeserver: synapse.url, way: 'access_token', secret: made.access_token }
  expect(await first.admin('link/setup', request)).toMatchObject({ user: '@simon:localhost', device: made.device_id })
  await on(first)
  for (const file of filesOf(first)) expect(file).not.toContain(made.access_token)
  const answer = await fetch(`${synapse.url}/_matrix/client/v1/login/get_token`, {
    method: 'POST',
    headers: { authorization: `Bearer ${made.access_token}` },
    body: '{}',
  })
  const { login_token: secret } = (await answer.json()) as Answer
  await using second = await Mailbox.start()
  const login = { homeserver: synapse.url, way: 'login_token', secret }
  const identity = (await second.admin('link/setup', login)) as Answer
  expect(identity.user).toBe('@simon:localhost')
  expect(identity.device).not.toBe(made.device_id)
  await on(second)
  await using third = await Mailbox.start()
  const again = await third.admin('link/setup', login).catch((error) => error.message)
  expect(again).toContain('Invalid login token') // it was good for once
}, 120_000)
