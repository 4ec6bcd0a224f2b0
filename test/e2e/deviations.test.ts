// Where the mailbox deviates on purpose from the prior daemon: each row of the table shown to be true, and the README's table.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { Caller, fresh, pair, storedMessages } from './support/caller.ts'
import { DEVIATIONS, deviationsTable } from './support/deviations.ts'
import { Mailbox } from './support/mailbox.ts'
import { run } from './support/script.ts'

setDefaultTimeout(30_000)

let mailbox: Mailbox
let operator: Caller
beforeAll(async () => {
  mailbox = await Mailbox.start()
  operator = Caller.operator(mailbox)
})
afterAll(() => mailbox[Symbol.asyncDispose]())

const ids = (answer: Record<string, any>): string[] =>
  answer.messages.map((one: { message_id: string }) => one.message_id)
const admin = async (route: string, request: object): Promise<Record<string, any>> => {
  const { status, body } = await operator.post(`/admin/${route}`, request)
  return { status, ...body }
}

/** Row of the table → what shows it. */
const PROOFS: Record<string, () => Promise<void>> = {
  'default inbox': async () => {
    const { ann, bob } = await pair(mailbox)
    const { message_id } = await ann.send(bob.id)
    await bob.ask('ack', { message_id })
    expect(await bob.inbox()).toEqual([])
    expect(await bob.inbox({ state: 'all' })).toEqual([message_id])
  },
  'size of an inbox page': async () => {
    const { ann, bob } = await pair(mailbox)
    const sent: string[] = []
    for (let i = 0; i < 5; i++) sent.push((await ann.send(bob.id, { body: 'x'.repeat(15_000) })).message_id)
    const first = await bob.post('/mail/inbox', {})
    expect(first.text.length).toBeLessThanOrEqual(40_000)
    expect([ids(first.body), first.body.has_more]).toEqual([sent.slice(0, 2), true])
    expect((await bob.inbox({ cursor: first.body.cursor }))[0]).toBe(sent[2] ?? '')
    const { message_id } = await bob.send(ann.id, { body: 'y'.repeat(65_536) })
    const [preview] = (await ann.ask('inbox')).messages
    expect(preview).toMatchObject({ message_id, body_truncated: true, body_bytes: 65_536 })
    expect((await ann.ask('get', { message_id })).body).toHaveLength(65_536)
  },
  'what ends a wait': async () => {
    const { ann, bob } = await pair(mailbox)
    const { message_id } = await ann.send(bob.id)
    expect(await bob.inbox()).toEqual([message_id])
    const { messages, waited_secs } = await bob.ask('inbox', { wait_secs: 1 })
    expect([messages, waited_secs >= 1]).toEqual([[], true])
    const next = bob.inbox({ wait_secs: 20 })
    await Bun.sleep(100)
    const later = await ann.send(bob.id)
    expect(await next).toEqual([later.message_id])
  },
  'longest wait': async () => {
    const { bob } = await pair(mailbox)
    const { tools } = (await bob.rpc({ jsonrpc: '2.0', id: 1, method: 'tools/list' })).body.result
    const inbox = tools.find(({ name }: { name: string }) => name === 'm4a_mail_inbox')
    expect(inbox.inputSchema.properties.wait_secs.description).toContain('50')
    // the waits themselves, to their end, are in waits.test.ts; here that more than the cap is no refusal
    const leaving = new AbortController()
    const held = fetch(`${mailbox.url}/mail/inbox`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bob.token}`, 'content-type': 'application/json' },
      body: '{"wait_secs":65535}',
      signal: leaving.signal,
    }).catch((error) => error)
    expect(await Promise.race([held, Bun.sleep(500)])).toBeUndefined()
    leaving.abort()
    await held
  },
  'what an ack settles': async () => {
    const { ann, bob, room } = await pair(mailbox)
    const [one, two] = [await mailbox.actor(bob.token), await mailbox.actor(bob.token)]
    for (const actor of [one, two]) await actor.ask('http', 'whoami')
    const [direct, posted] = [await ann.send(bob.id), await ann.send(`#${room}`)]
    await one.ask('http', 'ack', { message_ids: [direct.message_id, posted.message_id] })
    expect(ids(await one.ask('http', 'inbox'))).toEqual([])
    expect(ids(await two.ask('http', 'inbox'))).toEqual([posted.message_id])
  },
  'mail before a session': async () => {
    const { ann, bob } = await pair(mailbox)
    const [old, open] = [await ann.send(bob.id), await ann.send(bob.id)]
    const early = await mailbox.actor(bob.token)
    await early.ask('http', 'ack', { message_id: old.message_id })
    const late = await mailbox.actor(bob.token)
    const inbox = await late.ask('http', 'inbox')
    expect([ids(inbox), inbox.unread]).toEqual([[open.message_id], 1])
  },
  'own room posts': async () => {
    const { ann, bob, room } = await pair(mailbox)
    const { message_id } = await ann.send(`#${room}`)
    expect([await ann.inbox({ state: 'all' }), await bob.inbox()]).toEqual([[], [message_id]])
    expect((await ann.ask('inbox', { wait_secs: 1 })).messages).toEqual([])
  },
  'joining a room': async () => {
    const { ann, bob, room } = await pair(mailbox)
    const late = await Caller.make(mailbox, fresh('late'))
    const early = await ann.send(`#${room}`)
    await mailbox.admin('room/member/add', { room, participant: late.id })
    expect((await late.refusal('get', early)).kind).toBe('malformed')
    expect((await late.refusal('get', { message_id: early.message_id })).kind).toBe('unknown_message')
    const { message_id } = await ann.send(`#${room}`)
    expect(await late.inbox()).toEqual([message_id])
    await mailbox.admin('room/member/remove', { room, participant: bob.id })
    expect((await bob.refusal('get', { message_id })).kind).toBe('unknown_message')
    await mailbox.admin('room/member/add', { room, participant: bob.id })
    expect(await bob.inbox()).toEqual([early.message_id, message_id])
  },
  'own sent mail': async () => {
    const { ann, bob } = await pair(mailbox)
    const { message_id } = await ann.send(bob.id, { subject: 'zebra' })
    expect((await ann.ask('get', { message_id })).subject).toBe('zebra')
    for (const [op, request] of [
      ['sent', {}],
      ['thread', { message_id }],
      ['search', { query: 'zebra' }],
    ] as const)
      expect(ids(await ann.ask(op, request))).toEqual([message_id])
  },
  'unreadable is unknown': async () => {
    const { ann, bob } = await pair(mailbox)
    const { message_id } = await ann.send(ann.id)
    const refused = await bob.refusal('get', { message_id })
    const absent = `m4a_${'f'.repeat(24)}`
    const unknown = await bob.refusal('get', { message_id: absent })
    expect(refused).toMatchObject({ status: 404, kind: 'unknown_message' })
    expect(JSON.stringify(refused).replaceAll(message_id, absent)).toBe(JSON.stringify(unknown))
  },
  'unread of the own account': async () => {
    const { ann, bob } = await pair(mailbox)
    await ann.send(bob.id)
    const target = { kind: 'direct', participant: bob.id }
    expect(await bob.ask('unread', { target })).toMatchObject({ target, unread: 1 })
    expect(await bob.ask('unread', {})).toMatchObject({ target: { kind: 'session' }, unread: 1 })
  },
  'mail of an ended session': async () => {
    const { ann, bob } = await pair(mailbox)
    const gone = await mailbox.actor(bob.token)
    const { address_text, address } = await gone.ask('http', 'whoami')
    const { message_id } = await ann.send(address_text, { body: 'lost words' })
    await gone.end()
    const { orphaned } = await bob.ask('inbox')
    expect(orphaned).toMatchObject({ count: 1, letters: [{ message_id, to_text: address_text }] })
    expect(JSON.stringify(orphaned)).not.toContain('lost words')
    const { receipts } = await ann.ask('receipts', { message_id })
    expect(receipts[0].deliveries[0].session_ended).toBe(true)
    const released = await admin('orphan/release', { account: bob.id, session: address.session })
    expect(released).toMatchObject({ status: 200, released: 1 })
    expect((await bob.ask('get', { message_id })).body).toBe('lost words')
  },
  'posting to a room': async () => {
    const { room } = await pair(mailbox)
    const stranger = await Caller.make(mailbox, fresh('stranger'))
    const before = await storedMessages(mailbox)
    const refused = await stranger.refusal('send', { to: { kind: 'room', room }, subject: 's', body: 'b' })
    expect(refused).toMatchObject({ status: 403, kind: 'not_a_member', room })
    expect(await storedMessages(mailbox)).toBe(before)
  },
  '`@` in names': async () => {
    const { ann, bob } = await pair(mailbox)
    expect(await admin('participant', { id: 'a@b' })).toMatchObject({ status: 400, kind: 'malformed', field: 'id' })
    expect(await admin('room', { id: 'a@b' })).toMatchObject({ status: 400, kind: 'malformed', field: 'id' })
    const refused = await ann.refusal('send', { to: `${bob.id}@desk`, subject: 's', body: 'b' })
    expect(refused).toMatchObject({ status: 404, kind: 'unknown_machine', machine: 'desk' })
  },
  'case of names': async () => {
    const { ann, bob } = await pair(mailbox)
    expect((await admin('participant', { id: bob.id.toUpperCase() })).kind).toBe('name_taken')
    const { message_id, results } = await ann.send({ kind: 'direct', participant: bob.id.toUpperCase() })
    expect([await bob.inbox(), results[0].to_text]).toEqual([[message_id], bob.id])
  },
  'key reused for other content': async () => {
    const { ann, bob } = await pair(mailbox)
    const { message_id } = await ann.send(bob.id, { idempotency_key: 'k' })
    const other = { to: bob.id, subject: 's', body: 'other', idempotency_key: 'k' }
    expect(await ann.refusal('send', other)).toMatchObject({ status: 409, kind: 'idempotency_conflict', message_id })
    expect(await bob.inbox()).toEqual([message_id])
  },
  'scope of an idempotency key': async () => {
    const { ann, bob } = await pair(mailbox)
    const sibling = await mailbox.actor(ann.token)
    await sibling.ask('http', 'whoami')
    const first = await ann.send(bob.id, { idempotency_key: 'k' })
    expect(first.duplicate).toBeUndefined()
    const again = await sibling.ask('http', 'send', { to: bob.id, subject: 's', body: 'b', idempotency_key: 'k' })
    expect(again).toMatchObject({ message_id: first.message_id, from: first.from, duplicate: true })
    expect((await sibling.ask('http', 'whoami')).address).not.toEqual(first.from)
  },
  'characters of a key': async () => {
    const { ann, bob } = await pair(mailbox)
    const idempotency_key = 'https://host/a?b=c#2026-01-01T00:00:00Z'
    const { message_id } = await ann.send(bob.id, { idempotency_key })
    expect((await ann.send(bob.id, { idempotency_key })).message_id).toBe(message_id)
    const spaced = { to: bob.id, subject: 's', body: 'b', idempotency_key: 'a b' }
    expect((await ann.refusal('send', spaced)).field).toBe('idempotency_key')
  },
  'control characters in a body': async () => {
    const { ann, bob } = await pair(mailbox)
    const body = 'a\r\nb\rc\u0001\u001b[31m\u007f\u0085'
    const { message_id } = await ann.send(bob.id, { body })
    expect((await bob.ask('get', { message_id })).body).toBe(body)
    expect(await ann.refusal('send', { to: bob.id, subject: 's', body: 'a\0b' })).toMatchObject({
      status: 400,
      kind: 'malformed',
      field: 'body',
    })
  },
  '`reply_to`': async () => {
    const { ann, bob } = await pair(mailbox)
    const reply_to = `m4a_${'0'.repeat(24)}`
    const refused = await ann.refusal('send', { to: bob.id, subject: 's', body: 'b', reply_to })
    expect(refused).toMatchObject({ status: 404, kind: 'unknown_message', message_id: reply_to })
  },
  'a session of another case or a prefix': async () => {
    const { ann, bob } = await pair(mailbox)
    const { address } = await bob.ask('whoami')
    const { results } = await ann.send(`${bob.id.toUpperCase()}/${address.session.slice(0, 14)}`)
    expect(results[0].to).toEqual(address)
  },
  'a recipient who left': async () => {
    const { ann } = await pair(mailbox)
    const nobody = await Caller.make(mailbox, fresh('nobody'))
    expect((await ann.send(nobody.id)).results[0].warning).toContain('no live session')
    expect((await ann.send(ann.id)).results[0].warning).toBeUndefined()
  },
  'session id': async () => {
    const { ann } = await pair(mailbox)
    const { address, card } = await ann.ask('whoami')
    const { pid, started_at_unix_ms } = card.attested
    const bytes = Buffer.alloc(12)
    bytes.writeUInt32LE(pid, 0)
    bytes.writeBigUInt64LE(BigInt(started_at_unix_ms), 4)
    const priorId = `s-${Bun.SHA256.hash(bytes, 'hex').slice(0, 32)}`
    expect(address.session).toMatch(/^s-[0-9a-f]{32}$/)
    expect([pid, address.session === priorId]).toEqual([process.pid, false])
  },
  'a command below an agent': async () => {
    const { ann } = await pair(mailbox)
    const address = await ann.address()
    const { body } = await run(mailbox, { token: ann.token, path: '/mail/whoami' })
    expect([body.address_text, body.card.attested.pid]).toEqual([address, process.pid])
  },
  'two accounts in one process': async () => {
    const { ann, bob } = await pair(mailbox)
    const [first, second] = [await ann.ask('whoami'), await bob.ask('whoami')]
    expect(first.card.attested.pid).toBe(second.card.attested.pid)
    expect([first.account, second.account]).toEqual([ann.id, bob.id])
  },
  'admin calls are attested': async () => {
    const request = { token: operator.token, path: '/admin/participant/list', body: '{}' }
    expect((await run(mailbox, request)).status).toBe(200)
    await using strict = await Mailbox.start({ M4A_RECOGNISED_AGENTS: process.execPath })
    const { status, body } = await run(strict, { ...request, token: strict.operatorKey })
    expect({ status, ...body }).toMatchObject({ status: 403, kind: 'agent_ancestor' })
  },
  'refused callers': async () => {
    const { ann } = await pair(mailbox)
    const head = `POST /mail/whoami HTTP/1.1\\r\\nHost: 127.0.0.1:${mailbox.port}\\r\\nAuthorization: Bearer ${ann.token}\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n`
    const script = `exec 3<>/dev/tcp/127.0.0.1/${mailbox.port}; sleep 5 & printf '${head}' >&3; cat <&3; kill $!`
    const child = Bun.spawn(['bash', '-c', script], { stdout: 'pipe' })
    const answer = await new Response(child.stdout).text()
    expect(answer).toStartWith('HTTP/1.1 403')
    expect(answer).toContain('"kind":"shared_connection"')
  },
  'without a valid bearer': async () => {
    for (const token of ['', 'x'.repeat(64)]) {
      const { status, body, headers } = await new Caller(mailbox, '', token).post('/mail/inbox', {})
      expect({ status, ...body }).toMatchObject({ status: 401, kind: 'unauthenticated', hint: expect.any(String) })
      expect(headers.get('www-authenticate')).toStartWith('Bearer realm="mail4agent"')
    }
  },
  'Host and Origin': async () => {
    const { ann } = await pair(mailbox)
    const foreign = { host: `example.org:${mailbox.port}` }
    expect((await ann.post('/mail/whoami', {}, foreign)).body.kind).toBe('bad_host')
    expect((await ann.post('/mcp', {}, { origin: 'https://example.org' })).body.kind).toBe('bad_origin')
    expect((await ann.post('/mail/whoami', {}, { origin: mailbox.url })).status).toBe(200)
  },
  'rights of a new account': async () => {
    const can = async (more: object) =>
      (await (await Caller.make(mailbox, fresh('new'), more)).ask('whoami')).capabilities
    expect(await can({})).toEqual(['send', 'read'])
    expect(await can({ may_send: null })).toEqual(['send', 'read'])
    expect(await can({ may_read: true })).toEqual(['read'])
    expect(await can({ may_send: false })).toEqual([])
  },
  'unknown fields of admin requests': async () => {
    const id = fresh('typo')
    const refused = await admin('participant', { id, may_sent: true })
    expect(refused).toMatchObject({ status: 400, kind: 'malformed', field: 'may_sent' })
    expect((await admin('participant/rotate', { id })).kind).toBe('unknown_participant')
  },
  'a name that is taken': async () => {
    const { ann, room } = await pair(mailbox)
    expect(await admin('participant', { id: ann.id })).toMatchObject({
      status: 409,
      kind: 'name_taken',
      participant: ann.id,
    })
    expect(await admin('room', { id: room })).toMatchObject({ status: 409, kind: 'name_taken', room })
    expect((await ann.ask('whoami')).account).toBe(ann.id)
  },
  'a name used again': async () => {
    const { ann, bob } = await pair(mailbox)
    const { message_id } = await ann.send(bob.id)
    await admin('participant/remove', { id: bob.id })
    const second = await Caller.make(mailbox, bob.id)
    expect(await second.inbox({ state: 'all' })).toEqual([])
    expect((await second.refusal('get', { message_id })).kind).toBe('unknown_message')
    expect((await second.ask('whoami')).rooms).toEqual([])
  },
  'the last operator': async () => {
    expect(await admin('participant/remove', { id: 'operator' })).toMatchObject({ status: 409, kind: 'last_operator' })
    const { status, kind } = await admin('participant/set', { id: 'operator', operator: false })
    expect([status, kind]).toEqual([409, 'last_operator'])
  },
  'setting a listener': async () => {
    const { ann } = await pair(mailbox)
    const { key } = await mailbox.admin('listener', { account: ann.id, url: 'http://127.0.0.1:9/' })
    expect(key).toMatch(/^[0-9a-f]{64}$/)
    for (const port of ['0', '65536', 'x', String(mailbox.port)])
      expect(await admin('listener', { account: ann.id, url: `http://127.0.0.1:${port}/` })).toMatchObject({
        status: 400,
        field: 'url',
      })
    const listed = JSON.stringify(await admin('listener/list', {}))
    expect(listed).not.toContain(String(key))
    await mailbox.admin('listener/remove', { account: ann.id })
  },
  'fields of answers': async () => {
    const { ann, bob } = await pair(mailbox)
    const { message_id } = await ann.send(bob.id)
    const message = await bob.ask('get', { message_id })
    expect(message).toMatchObject({ thread: message_id, hop: 0, state: 'opened', opened_by: await bob.address() })
  },
  'wrong field in a request': async () => {
    const { ann, bob } = await pair(mailbox)
    const table: [object, object][] = [
      [
        { to: bob.id, subject: 's', body: 'b', note: 1 },
        { kind: 'malformed', field: 'note' },
      ],
      [
        { to: bob.id, subject: 's' },
        { kind: 'malformed', field: 'body' },
      ],
      [
        { to: bob.id, subject: 7, body: 'b' },
        { kind: 'malformed', field: 'subject' },
      ],
      [
        { to: { kind: 'direct' }, subject: 's', body: 'b' },
        { kind: 'malformed', field: 'to.participant' },
      ],
      [
        { to: bob.id, subject: 's', body: 'b', refs: [{ kind: 'k', locator: 'l', digest: 'Z' }] },
        { kind: 'malformed', field: 'refs[0].digest' },
      ],
    ]
    for (const [request, refusal] of table) expect(await ann.refusal('send', request)).toMatchObject(refusal)
  },
  'body of `whoami` and `directory`': async () => {
    const { ann } = await pair(mailbox)
    for (const op of ['whoami', 'directory'])
      expect(await ann.refusal(op, { from: 'x' })).toMatchObject({ status: 400, kind: 'malformed', field: 'from' })
    expect((await ann.refusal('whoami', 'no json')).field).toBe('request')
  },
  directory: async () => {
    const { ann } = await pair(mailbox)
    const seen: string[] = []
    let after: string | null = null
    for (let pages = 0; pages < 500; pages++) {
      const page: Record<string, any> = await ann.ask('directory', { limit: 7, after })
      seen.push(...page.participants.map((one: { id: string }) => one.id))
      after = page.after
      if (!page.has_more) break
    }
    const { accounts } = await admin('participant/list', { limit: 256 })
    expect(seen).toEqual(accounts.map((one: { id: string }) => one.id))
    expect(seen.length).toBeGreaterThan(30)
  },
  'a body that is no JSON': async () => {
    const { ann } = await pair(mailbox)
    for (const path of ['/mail/inbox', '/mcp', '/admin/room'])
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', '']) {
        const { status, body } = await ann.post(path, '{}', { 'content-type': type })
        expect({ path, status, kind: body.kind }).toEqual({ path, status: 415, kind: 'unsupported_media_type' })
      }
  },
  'unknown route, wrong method': async () => {
    const missing = await fetch(`${mailbox.url}/mail/none`, { method: 'POST' })
    expect([missing.status, Object(await missing.json()).kind]).toEqual([404, 'not_found'])
    const wrong = await fetch(`${mailbox.url}/mail/send`)
    expect([wrong.status, wrong.headers.get('allow'), Object(await wrong.json()).kind]).toEqual([
      405,
      'POST',
      'method_not_allowed',
    ])
  },
  'largest request': async () => {
    const { ann } = await pair(mailbox)
    const padded = (size: number) => `{}${' '.repeat(size - 2)}`
    expect((await ann.post('/mail/inbox', padded(1_048_576))).status).toBe(200)
    const { status, body } = await ann.post('/mail/inbox', padded(1_048_577))
    expect({ status, ...body }).toMatchObject({ status: 400, kind: 'too_large', limit: 1_048_576, actual: 1_048_577 })
  },
  'a foreign or outdated position': async () => {
    const { ann } = await pair(mailbox)
    expect(await ann.refusal('inbox', { cursor: '00000000.1' })).toMatchObject({ status: 410, kind: 'cursor_expired' })
    expect((await ann.refusal('inbox', { cursor: 'x' })).field).toBe('cursor')
  },
  'MCP notifications': async () => {
    const { ann } = await pair(mailbox)
    const note = await ann.rpc({ jsonrpc: '2.0', method: 'notifications/initialized' })
    expect([note.status, note.text, note.headers.get('content-type')]).toEqual([202, '', null])
    const odd = await ann.rpc({ jsonrpc: '2.0', id: null, method: 'ping' })
    expect([odd.status, odd.body.error.code]).toEqual([400, -32600])
  },
  'DELETE /mcp': async () => {
    const headers = { authorization: `Bearer ${operator.token}` }
    const answer = await fetch(`${mailbox.url}/mcp`, { method: 'DELETE', headers })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
  },
  'MCP protocol versions': async () => {
    const { ann } = await pair(mailbox)
    const agreed = async (protocolVersion: string) => {
      const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'c', version: '1' } }
      return (await ann.rpc({ jsonrpc: '2.0', id: 1, method: 'initialize', params })).body.result.protocolVersion
    }
    for (const version of ['2025-03-26', '2025-06-18', '2025-11-25']) expect(await agreed(version)).toBe(version)
    expect(await agreed('1999-01-01')).toBe('2025-11-25')
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const modern = await ann.rpc(
      { jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta: meta } },
      { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'server/discover' },
    )
    expect(modern.body.result.supportedVersions).toContain('2026-07-28')
  },
  'JSON-RPC errors': async () => {
    const { ann } = await pair(mailbox)
    const code = async (message: unknown, headers = {}) => {
      const { status, body } = await ann.rpc(message, headers)
      return [status, body.error.code]
    }
    expect(await code('{')).toEqual([400, -32700])
    for (const message of [{}, 7, { jsonrpc: '2.0', id: 1 }, { id: 1, method: 'ping' }, []])
      expect(await code(message)).toEqual([400, -32600])
    const batch = [{ jsonrpc: '2.0', id: 1, method: 'ping' }]
    expect(await code(batch, { 'mcp-protocol-version': '2025-06-18' })).toEqual([400, -32600])
    expect((await ann.rpc(batch)).status).toBe(200)
  },
  'arguments of MCP tools': async () => {
    const { ann } = await pair(mailbox)
    for (const name of ['whoami', 'peers', 'inbox'])
      expect(await ann.tool(name, { sender: 'x' })).toMatchObject({
        isError: true,
        content: { kind: 'malformed', field: 'sender' },
      })
  },
}

test('every row has its proof, and every proof its row', () => {
  expect(DEVIATIONS.map(({ name }) => name)).toEqual(Object.keys(PROOFS))
})

test.each(DEVIATIONS.map(({ name, now }) => [name, now] as const))('%s: %s', async (name) => {
  await PROOFS[name]?.()
})

/** A formatter may align the columns. */
const plain = (markdown: string) => markdown.replaceAll(/ +/g, ' ').replaceAll(/-{3,}/g, '---')

test('the table is the one that the README shows', async () => {
  const golden = Bun.file(join(import.meta.dir, '../golden/deviations.md'))
  if (process.env.UPDATE_GOLDEN) await golden.write(deviationsTable())
  expect(plain(await golden.text())).toBe(plain(deviationsTable()))
  const readme = await Bun.file(join(import.meta.dir, '../../README.md')).text()
  expect(plain(readme).includes(plain(deviationsTable()))).toBe(true)
})
