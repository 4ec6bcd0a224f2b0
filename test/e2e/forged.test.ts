// `from` cannot be chosen at any door: who says a sender is refused by the name of that field, and nothing is stored.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { OPERATION_NAMES } from '../../src/wire/operations.ts'
import { type Answer, type Caller, pair, storedMessages } from './support/caller.ts'
import { BINARY, Mailbox } from './support/mailbox.ts'

setDefaultTimeout(30_000)

let mailbox: Mailbox
let ann: Caller
let bob: Caller
let room: string
let victim: Record<string, any>
beforeAll(async () => {
  mailbox = await Mailbox.start()
  ;({ ann, bob, room } = await pair(mailbox))
  victim = await (await mailbox.actor(bob.token)).ask('http', 'whoami')
  await ann.ask('whoami')
})
afterAll(() => mailbox[Symbol.asyncDispose]())

const MODERN = '2026-07-28'
const META = { 'io.modelcontextprotocol/protocolVersion': MODERN, 'io.modelcontextprotocol/clientCapabilities': {} }
const TOOLS: Record<string, string> = { directory: 'peers' }

async function overSocket(op: string, request: string): Promise<Record<string, any>> {
  const response = await fetch(`http://localhost/mail/${op}`, {
    method: 'POST',
    unix: mailbox.socket,
    headers: { authorization: `Bearer ${ann.token}`, 'content-type': 'application/json' },
    body: request,
  })
  return { status: response.status, ...Object(await response.json()) }
}
async function overMcp(op: string, request: string, modern: boolean): Promise<Record<string, any>> {
  const name = `m4a_mail_${TOOLS[op] ?? op}`
  const meta = modern ? `,"_meta":${JSON.stringify(META)}` : ''
  const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${request}${meta}}}`
  const headers = modern
    ? { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': name }
    : { 'mcp-protocol-version': '2025-11-25' }
  const { body, text } = await ann.rpc(message, headers)
  if (!body.result) throw new Error(text)
  return { status: body.result.isError ? 400 : 200, ...body.result.structuredContent }
}
/** Each takes a request as JSON text and gives the answer or the refusal. */
const DOORS: Record<string, (op: string, request: string) => Promise<Record<string, any>>> = {
  http: async (op, request) => {
    const { status, body }: Answer = await ann.post(`/mail/${op}`, request)
    return { status, ...body }
  },
  socket: overSocket,
  'mcp legacy': (op, request) => overMcp(op, request, false),
  'mcp modern': (op, request) => overMcp(op, request, true),
}
const WITH_TOOLS = new Set(['send', 'inbox', 'ack', 'get', 'whoami', 'status', 'directory', 'search'])

const FORGED = ['from', 'from_text', 'sender', 'session', 'account', 'participant', 'From', 'as', 'token', '__proto__']
const values = () => [bob.id, null, victim.address, victim.address_text, '', [bob.id], 0, false]
const letter = () => ({ to: bob.id, subject: 's', body: 'b' })

describe.each(Object.keys(DOORS))('%s', (name) => {
  const call = (op: string, request: string) => DOORS[name]?.(op, request) ?? Promise.reject(new Error(name))
  const refusedWithout = async (op: string, request: string, field: string) => {
    const answer = await call(op, request)
    expect([request, answer.status, answer.kind, answer.field]).toEqual([request, 400, 'malformed', field])
  }

  test('a sender in a letter is refused by its name, whatever its value, and nothing is stored', async () => {
    const before = await storedMessages(mailbox)
    for (const field of FORGED)
      for (const value of values()) {
        const forged = `"${field}":${JSON.stringify(value)}`
        const whole = JSON.stringify(letter())
        await refusedWithout('send', `{${forged},${whole.slice(1)}`, field)
        await refusedWithout('send', `${whole.slice(0, -1)},${forged}}`, field)
      }
    expect(await storedMessages(mailbox)).toBe(before)
  })

  test('nor is one further in: in an address, in a reference, in a list of recipients', async () => {
    const before = await storedMessages(mailbox)
    const address = (kind: object) => JSON.stringify({ ...letter(), to: { ...kind, from: bob.id } })
    await refusedWithout('send', address({ kind: 'direct', participant: bob.id }), 'to.from')
    await refusedWithout('send', address({ kind: 'room', room }), 'to.from')
    await refusedWithout('send', address(victim.address), 'to.from')
    const listed = { ...letter(), to: [bob.id, { kind: 'direct', participant: bob.id, account: null }] }
    await refusedWithout('send', JSON.stringify(listed), 'to[1].account')
    for (const field of ['from', 'sender', 'session', 'account', 'participant']) {
      const refs = [{ kind: 'k', locator: 'l', [field]: null }]
      await refusedWithout('send', JSON.stringify({ ...letter(), refs }), `refs[0].${field}`)
    }
    expect(await storedMessages(mailbox)).toBe(before)
  })

  test('no other operation takes a caller either', async () => {
    const operations = OPERATION_NAMES.filter((op) => !name.startsWith('mcp') || WITH_TOOLS.has(op))
    for (const op of operations)
      for (const field of ['from', 'sender', 'session', 'account', 'participant'])
        await refusedWithout(op, `{"${field}":${JSON.stringify(bob.id)}}`, field)
  })

  test('what is said twice, on behalf of somebody, or as a declaration changes nobody’s address', async () => {
    const before = await storedMessages(mailbox)
    await refusedWithout('send', `{"to":"${bob.id}","subject":"s","body":"b","from":1,"from":"${bob.id}"}`, 'from')
    const behalf = await call('send', JSON.stringify({ ...letter(), on_behalf_of: bob.id }))
    expect(behalf).toMatchObject({ kind: 'permission_denied', need: 'mail:behalf' })
    expect(await storedMessages(mailbox)).toBe(before)
    await call('status', JSON.stringify({ role: bob.id, parent: victim.address.session, working_on: 'as bob' }))
    const sent = await call('send', JSON.stringify({ ...letter(), to: room ? `#${room}` : '' }))
    const { address } = await ann.ask('whoami')
    expect(sent.from).toEqual(address)
    expect((await bob.ask('get', { message_id: sent.message_id })).from).toEqual(address)
  })
})

test('headers, query and MCP metadata name no sender', async () => {
  const { address } = await ann.ask('whoami')
  const headers = {
    from: bob.id,
    'x-from': bob.id,
    'x-forwarded-for': '10.0.0.1',
    'x-forwarded-user': bob.id,
    'm4a-session': victim.address.session,
    cookie: `token=${bob.token}`,
  }
  const path = `/mail/send?from=${bob.id}&account=${bob.id}&session=${victim.address.session}`
  expect((await ann.post(path, letter(), headers)).body.from).toEqual(address)
  for (const conversation of [victim.address.session, victim.address_text, bob.id]) {
    const params = {
      name: 'm4a_mail_send',
      arguments: letter(),
      _meta: { from: bob.id, session: victim.address.session, threadId: conversation },
    }
    const { body } = await ann.rpc({ jsonrpc: '2.0', id: 1, method: 'tools/call', params, from: bob.id })
    const { from } = body.result.structuredContent
    // a conversation narrows within the account; it never is another session that exists
    expect(from.participant).toBe(ann.id)
    expect(from.session).not.toBe(victim.address.session)
  }
})

test('two bearers in one header, or the token of one in the body of another, are refused', async () => {
  const authorization = `Bearer ${ann.token}, Bearer ${bob.token}`
  expect((await ann.post('/mail/send', letter(), { authorization })).body.kind).toBe('unauthenticated')
  expect(await ann.refusal('send', { ...letter(), authorization: bob.token })).toMatchObject({ field: 'authorization' })
})

test('the command line has no option for a sender, and --as needs the token', async () => {
  const before = await storedMessages(mailbox)
  const run = async (...words: string[]) => {
    const child = Bun.spawn([BINARY, ...words], {
      env: { PATH: process.env.PATH ?? '', HOME: mailbox.root, M4A_DATA_DIR: mailbox.data, M4A_TOKEN: ann.token },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    return { code: await child.exited, out, err }
  }
  for (const option of ['sender', 'session', 'account', 'participant'])
    for (const words of [[`--${option}`, bob.id], [`--${option}=${bob.id}`]])
      expect(await run('send', ...words, bob.id, 'body')).toMatchObject({ code: 2, out: '' })
  expect(await run('send', '--as', bob.id, bob.id, 'body')).toMatchObject({ out: '', code: 2 })
  expect(await storedMessages(mailbox)).toBe(before)
  for (const command of ['send', 'reply', 'status set'])
    expect((await run('help', ...command.split(' '))).out).not.toMatch(/--(sender|session|account|participant)\b/)
  // --from declares for whom one writes, which needs a capability and changes no sender
  expect(await run('send', '--from', bob.id, bob.id, 'body')).toMatchObject({ code: 1, out: '' })
  expect(await storedMessages(mailbox)).toBe(before)
  expect(JSON.parse((await run('send', bob.id, 'body', '--json')).out).from.participant).toBe(ann.id)
})

test('the bridge takes no sender either', async () => {
  const before = await storedMessages(mailbox)
  const call = (args: object) => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'm4a_mail_send', arguments: args },
  })
  const child = Bun.spawn([BINARY, 'mcp'], {
    env: { PATH: process.env.PATH ?? '', HOME: mailbox.root, M4A_DATA_DIR: mailbox.data, M4A_TOKEN: ann.token },
    stdin: new Blob([`${JSON.stringify(call({ ...letter(), from: victim.address }))}\n`]),
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const { result } = JSON.parse(await new Response(child.stdout).text())
  expect(result).toMatchObject({ isError: true, structuredContent: { kind: 'malformed', field: 'from' } })
  expect(await storedMessages(mailbox)).toBe(before)
})
