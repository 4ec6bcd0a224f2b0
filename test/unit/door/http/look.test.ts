// Who only looks leaves no trace: no session, no last sign of life; whatever else it asks is asked as by everybody.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { MailClient } from '../../../../src/client/client.ts'
import { LOOK_HEADER } from '../../../../src/wire/look.ts'
import { Office, refusalOf } from '../support.ts'

let office: Office
beforeAll(async () => {
  office = await Office.open('alice', 'bob', 'carol')
})
afterAll(() => office[Symbol.asyncDispose]())

async function looking<A>(account: string, over: 'tcp' | 'unix', ask: (client: MailClient) => Promise<A>): Promise<A> {
  const { port, socketPath } = office.daemon
  const target = over === 'unix' ? { socket: socketPath ?? '' } : { base: `http://127.0.0.1:${port}` }
  const client = new MailClient({ ...target, token: office.token(account), looks: true })
  try {
    return await ask(client)
  } finally {
    client.close()
  }
}

/** As the operator sees the account. */
async function signsOfLife(account: string) {
  const operator = office.client('operator')
  const { live_sessions, last_seen } = await operator.call('ping', { target: account })
  const { participants } = await operator.call('directory', {})
  return { live_sessions, last_seen, sessions: participants.find(({ id }) => id === account)?.sessions.length }
}

const NONE = { live_sessions: 0, last_seen: null, sessions: 0 }
const WHOAMI = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'm4a_mail_whoami', arguments: {} },
})

describe.each(['tcp', 'unix'] as const)('over %s', (over) => {
  test('whoami, directory and ping are answered, and it is not seen', async () => {
    const me = await looking('bob', over, (client) => client.call('whoami', {}))
    expect(me).toMatchObject({
      account: 'bob',
      unread: 0,
      address_text: expect.stringMatching(/^bob\/s-[0-9a-f]{32}$/),
    })
    const { participants } = await looking('bob', over, (client) => client.call('directory', {}))
    expect(participants.map(({ id }) => id)).toContain('alice')
    expect((await looking('bob', over, (client) => client.call('ping', { target: 'bob' }))).live_sessions).toBe(0)
    expect(await signsOfLife('bob')).toEqual(NONE)
  })

  test('nor over MCP', async () => {
    const { status, text } = await looking('bob', over, (client) => client.mcp(WHOAMI))
    expect([status, JSON.parse(text).result.structuredContent.account]).toEqual([200, 'bob'])
    expect(await signsOfLife('bob')).toEqual(NONE)
  })

  test('what an operator looks at', async () => {
    const ask = (client: MailClient) => client.admin('listener/list', {})
    expect((await looking('operator', over, ask)).listeners).toEqual([])
    expect((await refusalOf(looking('bob', over, ask))).kind).toBe('permission_denied')
    expect(await signsOfLife('bob')).toEqual(NONE)
  })
})

test('the proof and the token are asked for all the same', async () => {
  const headers = { [LOOK_HEADER]: '1', authorization: 'Bearer nonsense' }
  expect((await office.fetch('/mail/whoami', { method: 'POST', headers })).status).toBe(401)
})

test('who has a session is shown as that, and what it does not only look at is a call like any', async () => {
  const own = await office.client('carol').call('whoami', {})
  const looked = await looking('carol', 'tcp', (client) => client.call('whoami', {}))
  expect(looked.address_text).toBe(own.address_text)
  await looking('alice', 'tcp', (client) => client.call('inbox', {}))
  expect(await signsOfLife('alice')).toMatchObject({ live_sessions: 1, sessions: 1 })
})
