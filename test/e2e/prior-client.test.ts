// A client of the prior daemon keeps working: its requests are accepted, and every answer holds at least its fields.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { Caller, fresh, pair } from './support/caller.ts'
import { Mailbox } from './support/mailbox.ts'
import { PRIOR_DOORBELL, PRIOR_TOOLS, type PriorRoute, priorFault } from './support/prior.ts'

setDefaultTimeout(20_000)

let mailbox: Mailbox
let operator: Caller
beforeAll(async () => {
  mailbox = await Mailbox.start()
  operator = Caller.operator(mailbox)
})
afterAll(() => mailbox[Symbol.asyncDispose]())

/** One call as the prior client makes it; its answer is one that this client can read. */
async function prior(by: Caller, route: PriorRoute, request?: unknown): Promise<Record<string, any>> {
  const { status, body, text } = await by.post(route, request)
  expect([route, status, status === 200 ? '' : text]).toEqual([route, 200, ''])
  expect(priorFault(route, body)).toBeNull()
  return body
}
const direct = (participant: string) => ({ kind: 'direct', participant })
const letter = (to: object, more: object = {}) => ({ to, subject: 'subject', body: 'body', ...more })
const NULLS = { reply_to: null, correlation: null, refs: [], idempotency_key: null }

describe('/mail', () => {
  test('send: required fields alone, every optional one null, every optional one given', async () => {
    const { ann, bob, room } = await pair(mailbox)
    const first = await prior(ann, '/mail/send', letter(direct(bob.id)))
    await prior(ann, '/mail/send', letter(direct(bob.id), NULLS))
    await prior(ann, '/mail/send', letter({ kind: 'room', room }))
    const { address } = await prior(bob, '/mail/whoami')
    await prior(ann, '/mail/send', letter(address))
    const refs = [
      { kind: 'git.commit', locator: 'any text: 1', digest: 'ab12' },
      { kind: 'user@host', locator: 'x', digest: null },
      { kind: 'file', locator: 'y' },
    ]
    const whole = {
      reply_to: first.message_id,
      correlation: 'run 7/a',
      refs,
      idempotency_key: `Key._@+-${'k'.repeat(120)}`,
    }
    const { message_id } = await prior(bob, '/mail/send', letter(direct(ann.id), whole))
    const read = await prior(ann, '/mail/get', { message_id })
    expect(read).toMatchObject({ reply_to: first.message_id, correlation: 'run 7/a', from: address })
    expect(read.refs).toEqual(refs)
    const again = await prior(bob, '/mail/send', letter(direct(ann.id), whole))
    expect(again.message_id).toBe(message_id)
  })

  test('send: every limit that the prior daemon allowed, to its last byte', async () => {
    const { ann, bob } = await pair(mailbox)
    for (const more of [
      { subject: '', body: '' },
      { subject: '✅'.repeat(170), body: `\n\t${'✅'.repeat(21_844)}` },
      { correlation: 'c'.repeat(512) },
      {
        refs: Array.from({ length: 8 }, () => ({
          kind: 'k'.repeat(128),
          locator: 'l'.repeat(512),
          digest: 'd'.repeat(128),
        })),
      },
    ]) {
      const { message_id } = await prior(ann, '/mail/send', letter(direct(bob.id), more))
      expect(await prior(bob, '/mail/get', { message_id })).toMatchObject(more)
    }
  })

  test('inbox: no fields, each optional one null, since, limit and wait', async () => {
    const { ann, bob } = await pair(mailbox)
    const { message_id } = await prior(ann, '/mail/send', letter(direct(bob.id)))
    for (const request of [
      { since_unix_ms: 0, limit: 256, wait_secs: 65_535 },
      {},
      { since_unix_ms: null, limit: null, wait_secs: null },
      { since_unix_ms: 0, limit: 1, wait_secs: 0 },
    ]) {
      const { messages, unread } = await prior(bob, '/mail/inbox', request)
      expect({ ids: messages.map((one: { message_id: string }) => one.message_id), unread }).toEqual({
        ids: [message_id],
        unread: 1,
      })
    }
    const { messages } = await prior(bob, '/mail/inbox', {})
    const at = messages[0].created_at_unix_ms
    expect(await bob.inbox({ since_unix_ms: at })).toEqual([message_id])
    for (const since_unix_ms of [at + 1, 2 ** 53, 18_446_744_073_709_551_615n.toString()]) {
      const body = `{"since_unix_ms":${since_unix_ms}}`
      expect((await prior(bob, '/mail/inbox', body)).messages).toEqual([])
    }
  })

  test('a wait ends with the mail, and without any with an empty page', async () => {
    const { ann, bob } = await pair(mailbox)
    const waiting = prior(bob, '/mail/inbox', { wait_secs: 30 })
    await Bun.sleep(200)
    const { message_id } = await prior(ann, '/mail/send', letter(direct(bob.id)))
    expect((await waiting).messages[0].message_id).toBe(message_id)
    const began = performance.now()
    const empty = await prior(ann, '/mail/inbox', { wait_secs: 1 })
    expect(empty).toMatchObject({ messages: [], unread: 0 })
    expect(performance.now() - began).toBeGreaterThan(900)
  })

  test('ack: idempotent, with the first time', async () => {
    const { ann, bob } = await pair(mailbox)
    const { message_id } = await prior(ann, '/mail/send', letter(direct(bob.id)))
    const { ack } = await prior(bob, '/mail/ack', { message_id })
    await Bun.sleep(5)
    expect((await prior(bob, '/mail/ack', { message_id })).ack).toEqual(ack)
    expect((await prior(bob, '/mail/get', { message_id })).message_id).toBe(message_id)
  })

  test('unread: of the own session, and for an operator of any account and session', async () => {
    const { ann, bob } = await pair(mailbox)
    const { address } = await prior(bob, '/mail/whoami')
    await prior(ann, '/mail/send', letter(address))
    await prior(ann, '/mail/send', letter(direct(bob.id)))
    expect((await prior(bob, '/mail/unread', { target: address })).unread).toBe(2)
    expect(await prior(operator, '/mail/unread', { target: direct(bob.id) })).toMatchObject({ unread: 1 })
    expect(await prior(operator, '/mail/unread', { target: address })).toMatchObject({ target: address, unread: 1 })
  })

  test('whoami and directory: an empty body, with and without a content type, and {}', async () => {
    const { ann } = await pair(mailbox)
    for (const route of ['/mail/whoami', '/mail/directory'] as const) {
      await prior(ann, route)
      await prior(ann, route, '')
      await prior(ann, route, {})
      const headers = { authorization: `Bearer ${ann.token}` }
      const bare = await fetch(mailbox.url + route, { method: 'POST', headers })
      expect(bare.status).toBe(200)
      expect(priorFault(route, await bare.json())).toBeNull()
    }
  })

  test('status: the whole group is replaced, null and absent clear', async () => {
    const { ann } = await pair(mailbox)
    const { address } = await prior(ann, '/mail/whoami')
    const declared = { working_on: 'w'.repeat(512), role: 'reviewer', parent: address.session }
    expect((await prior(ann, '/mail/status', declared)).card.declared).toEqual(declared)
    const { card } = await prior(ann, '/mail/status', { role: 'r', parent: null })
    expect(card.declared).toEqual({ working_on: null, role: 'r', parent: null })
    const cleared = await prior(ann, '/mail/status', {})
    expect(cleared.card.declared).toEqual({ working_on: null, role: null, parent: null })
  })

  test('directory: every account, its sessions nested, every room relative to the caller', async () => {
    const { ann, bob, room } = await pair(mailbox)
    const { address } = await prior(bob, '/mail/whoami')
    await mailbox.admin('room/member/remove', { room, participant: ann.id })
    const { participants, rooms } = await prior(ann, '/mail/directory')
    const entry = participants.find((one: { id: string }) => one.id === bob.id)
    expect(entry.sessions).toContainEqual(expect.objectContaining({ id: address.session, live: true }))
    expect(rooms).toContainEqual(expect.objectContaining({ id: room, member: false }))
  })

  test('headers: the scheme in both spellings, a request id echoed or minted', async () => {
    const { ann } = await pair(mailbox)
    for (const authorization of [`Bearer ${ann.token}`, `bearer ${ann.token}`, `Bearer ${ann.token} `])
      expect((await ann.post('/mail/whoami', undefined, { authorization })).status).toBe(200)
    const echoed = await ann.post('/mail/whoami', {}, { 'x-request-id': 'mine:1' })
    expect(echoed.headers.get('x-request-id')).toBe('mine:1')
    expect((await ann.post('/mail/whoami', {})).headers.get('x-request-id')).toMatch(/^[\x21-\x7e]{8,}$/)
    const refused = await ann.post('/mail/get', {}, { 'x-request-id': 'mine:2' })
    expect([refused.status, refused.headers.get('x-request-id')]).toEqual([400, 'mine:2'])
    const typed = { 'content-type': 'application/json; charset=utf-8' }
    expect((await ann.post('/mail/inbox', {}, typed)).status).toBe(200)
  })

  test('refusals keep their names and facts', async () => {
    const { ann, bob } = await pair(mailbox)
    const session = `s-${'0'.repeat(32)}`
    const { address } = await (await mailbox.actor(bob.token)).ask('http', 'whoami')
    const mute = await Caller.make(mailbox, fresh('mute'), { may_send: false, may_read: false })
    const table: [Caller, string, object, object][] = [
      [ann, 'send', letter(direct('nobody')), { status: 404, kind: 'unknown_participant', participant: 'nobody' }],
      [ann, 'send', letter({ kind: 'room', room: 'none' }), { status: 404, kind: 'unknown_room', room: 'none' }],
      [ann, 'send', letter({ ...address, session }), { status: 404, kind: 'unknown_session', session }],
      [
        ann,
        'send',
        letter({ ...address, participant: ann.id }),
        {
          status: 409,
          kind: 'session_account_mismatch',
          session: address.session,
          expected: bob.id,
          presented: ann.id,
        },
      ],
      [ann, 'get', { message_id: `m4a_${'0'.repeat(24)}` }, { status: 404, kind: 'unknown_message' }],
      [mute, 'send', letter(direct(ann.id)), { status: 403, kind: 'permission_denied', need: 'mail:send' }],
      [mute, 'inbox', {}, { status: 403, kind: 'permission_denied', need: 'mail:read' }],
      [ann, 'unread', { target: direct(bob.id) }, { status: 403, kind: 'permission_denied', need: 'mail:operator' }],
      [ann, 'unread', { target: { kind: 'room', room: 'r' } }, { status: 400, kind: 'malformed', field: 'target' }],
      [ann, 'inbox', { limit: 0 }, { status: 400, kind: 'malformed', field: 'limit' }],
      [ann, 'inbox', { limit: 257 }, { status: 400, kind: 'too_large', field: 'limit', limit: 256, actual: 257 }],
      [
        ann,
        'send',
        letter(direct(bob.id), { subject: 's'.repeat(513) }),
        { status: 400, kind: 'too_large', field: 'subject', limit: 512, actual: 513 },
      ],
      [
        ann,
        'send',
        letter(direct(bob.id), { body: '✅'.repeat(21_846) }),
        { status: 400, kind: 'too_large', field: 'body', limit: 65_536, actual: 65_538 },
      ],
    ]
    for (const [by, op, request, refusal] of table) expect(await by.refusal(op, request)).toMatchObject(refusal)
    expect((await prior(mute, '/mail/whoami')).address.participant).toBe(mute.id)
    await prior(mute, '/mail/status', { role: 'silent' })
  })
})

describe('/admin and /health', () => {
  test('accounts: registered with every bit, null label, rotated, removed', async () => {
    const id = fresh('made')
    const bits = { may_send: true, may_read: true, operator: false }
    const { secret } = await prior(operator, '/admin/participant', { id, label: 'A label', ...bits })
    expect((await prior(new Caller(mailbox, id, secret), '/mail/whoami')).label).toBe('A label')
    await prior(operator, '/admin/participant', { id: fresh('made'), label: null })
    const rotated = await prior(operator, '/admin/participant/rotate', { id })
    expect((await new Caller(mailbox, id, secret).post('/mail/whoami')).status).toBe(401)
    await prior(new Caller(mailbox, id, rotated.secret), '/mail/whoami')
    await prior(operator, '/admin/participant/remove', { id })
    expect((await new Caller(mailbox, id, rotated.secret).post('/mail/whoami')).status).toBe(401)
    for (const route of ['rotate', 'remove']) {
      const { status, body } = await operator.post(`/admin/participant/${route}`, { id })
      expect([status, body.kind, body.participant]).toEqual([404, 'unknown_participant', id])
    }
  })

  test('rooms: members added and removed twice, and one that is not there', async () => {
    const { ann } = await pair(mailbox)
    const room = fresh('Room.A+b')
    await prior(operator, '/admin/room', { id: room })
    for (const route of ['/admin/room/member/add', '/admin/room/member/remove'] as const)
      for (let twice = 0; twice < 2; twice++) await prior(operator, route, { room, participant: ann.id })
    await prior(operator, '/admin/room/member/remove', { room, participant: 'nobody' })
    const unknown = await operator.post('/admin/room/member/add', { room: 'no-room', participant: 'nobody' })
    expect(unknown.body.kind).toBe('unknown_room')
    const nobody = await operator.post('/admin/room/member/add', { room, participant: 'nobody' })
    expect(nobody.body.kind).toBe('unknown_participant')
  })

  test('listeners: set, replaced, rung with the four ids, removed twice', async () => {
    const { ann, bob } = await pair(mailbox)
    const rung = Promise.withResolvers<Record<string, any>>()
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        rung.resolve(Object(await request.json()))
        return new Response()
      },
    })
    await prior(operator, '/admin/listener', { account: bob.id, url: 'http://LOCALHOST/without/port' })
    await prior(operator, '/admin/listener', { account: bob.id, url: `http://127.0.0.1:${server.port}/ring?x=1` })
    const { message_id, from } = await prior(ann, '/mail/send', letter(direct(bob.id)))
    const bell = await rung.promise
    expect(Object.keys(bell).sort()).toEqual([...PRIOR_DOORBELL])
    expect(bell).toEqual({ account: bob.id, to: direct(bob.id), message_id, from })
    for (let twice = 0; twice < 2; twice++) await prior(operator, '/admin/listener/remove', { account: bob.id })
    await server.stop(true)
    for (const url of ['https://127.0.0.1/', 'http://example.org/', 'http://127.0.0.1@example.org/', 'http://[::1]/']) {
      const { status, body } = await operator.post('/admin/listener', { account: bob.id, url })
      expect([url, status, body.kind, body.field]).toEqual([url, 400, 'malformed', 'url'])
    }
  })

  test('an account without the right is refused', async () => {
    const { ann } = await pair(mailbox)
    const { status, body } = await ann.post('/admin/room', { id: 'x' })
    expect({ status, ...body }).toMatchObject({ status: 403, kind: 'permission_denied', need: 'mail:operator' })
  })

  test('health has every field, without a bearer', async () => {
    const answer = await fetch(`${mailbox.url}/health`)
    expect(answer.status).toBe(200)
    expect(priorFault('/health', await answer.json())).toBeNull()
  })
})

describe('/mcp', () => {
  const call = (by: Caller, message: object) => by.rpc({ jsonrpc: '2.0', id: 1, ...message })

  test('initialize echoes both of its versions; ping; the seven tools are there in its order', async () => {
    const { ann } = await pair(mailbox)
    for (const protocolVersion of ['2025-03-26', '2025-06-18']) {
      const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'prior', version: '1' } }
      const { result } = (await call(ann, { method: 'initialize', params })).body
      expect(result).toMatchObject({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'mail4agent' } })
    }
    expect((await call(ann, { method: 'ping' })).body).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
    const { tools } = (await call(ann, { method: 'tools/list' })).body.result
    const names = tools.map((tool: { name: string }) => tool.name)
    expect(names.slice(0, 7)).toEqual(PRIOR_TOOLS.map((name) => `m4a_mail_${name}`))
  })

  test('its seven calls, with null for what is optional', async () => {
    const { ann, bob, room } = await pair(mailbox)
    const answer = async (by: Caller, name: string, args?: object) => {
      const params = { name: `m4a_mail_${name}`, ...(args ? { arguments: args } : {}) }
      const { result } = (await call(by, { method: 'tools/call', params })).body
      expect([name, result.isError ?? false]).toEqual([name, false])
      expect(JSON.parse(result.content[0].text)).toEqual(result.structuredContent)
      return result.structuredContent
    }
    const whoami = await answer(bob, 'whoami')
    expect(priorFault('/mail/whoami', whoami)).toBeNull()
    for (const to of [bob.id, `${bob.id}/${whoami.address.session}`, `#${room}`, direct(bob.id), whoami.address]) {
      const sent = await answer(ann, 'send', { ...letter(Object(to)), to, ...NULLS })
      expect(priorFault('/mail/send', sent)).toBeNull()
    }
    const inbox = await answer(bob, 'inbox', { since_unix_ms: null, limit: null, wait_secs: null })
    expect(priorFault('/mail/inbox', inbox)).toBeNull()
    expect(inbox.messages).toHaveLength(5)
    const [{ message_id }] = inbox.messages
    expect(priorFault('/mail/get', await answer(bob, 'get', { message_id }))).toBeNull()
    const acked = await answer(bob, 'ack', { message_id })
    expect([priorFault('m4a_mail_ack', acked), priorFault('/mail/ack', acked)]).toEqual([null, null])
    const overHttp = (await bob.post('/mail/ack', { message_id })).body
    expect([priorFault('m4a_mail_ack', overHttp), priorFault('/mail/ack', overHttp)]).toEqual([null, null])
    const status = await answer(bob, 'status', { working_on: null, role: 'r', parent: null })
    expect(priorFault('/mail/status', status)).toBeNull()
    expect(priorFault('/mail/directory', await answer(bob, 'peers', {}))).toBeNull()
  })

  test('a refusal is a result with isError; unknown tools and methods are protocol errors', async () => {
    const { ann } = await pair(mailbox)
    const refused = await ann.tool('send', { to: 'nobody', subject: 's', body: 'b' })
    expect(refused).toMatchObject({ isError: true, content: { kind: 'unknown_participant', participant: 'nobody' } })
    const error = async (message: object) => (await call(ann, message)).body.error.code
    expect(await error({ method: 'tools/call', params: { name: 'm4a_mail_none', arguments: {} } })).toBe(-32602)
    expect(await error({ method: 'tools/call', params: {} })).toBe(-32602)
    expect(await error({ method: 'none/such' })).toBe(-32601)
    expect((await ann.rpc('{')).body.error.code).toBe(-32700)
  })

  test('a batch is answered without its notifications; a call without arguments works', async () => {
    const { ann } = await pair(mailbox)
    const one = (id: number, name: string) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: `m4a_mail_${name}` },
    })
    const note = { jsonrpc: '2.0', method: 'notifications/initialized' }
    const { status, text } = await ann.rpc([one(1, 'whoami'), note, one(2, 'inbox')])
    const answers: { id: number; result: object }[] = JSON.parse(text)
    expect([status, answers.map(({ id }) => id)]).toEqual([200, [1, 2]])
    const silent = await ann.rpc([note])
    expect([silent.status, silent.text]).toEqual([202, ''])
  })

  test('DELETE and GET end without harm: there is no session and no stream', async () => {
    const { ann } = await pair(mailbox)
    for (const method of ['GET', 'DELETE']) {
      const answer = await fetch(`${mailbox.url}/mcp`, { method, headers: { authorization: `Bearer ${ann.token}` } })
      expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, 'POST'])
    }
    expect((await ann.tool('whoami')).isError).toBe(false)
  })
})
