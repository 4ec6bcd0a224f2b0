// Every door of the real binary on changed requests: HTTP as bytes, bodies of operations, JSON-RPC of both eras, and the input of hooks.
// Whatever comes is answered or the connection ends: nothing is stored that nobody sent, no sender is another one, no fault of ours.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { corpusOf } from '../fuzz/fuzz.ts'
import { mutate, mutateJson } from '../fuzz/mutate.ts'
import { Random, seedFrom } from '../support/random.ts'
import { report } from '../support/results.ts'
import { Caller, fresh, storedMessages } from './support/caller.ts'
import { BINARY, Mailbox } from './support/mailbox.ts'
import { Raw } from './support/raw.ts'

setDefaultTimeout(900_000)

/** Milliseconds for each door. */
const MS = Number(process.env.M4A_FUZZ_MS ?? 5_000)
const random = new Random(seedFrom(1))
const began = performance.now()
const told = { raw: 0, bodies: 0, rpc: 0, hooks: 0, wrong: 0 }

let mailbox: Mailbox
let ann: Caller
let bob: Caller
beforeAll(async () => {
  mailbox = await Mailbox.start()
  ann = await Caller.make(mailbox, fresh('ann'))
  bob = await Caller.make(mailbox, fresh('bob'))
})
afterAll(async () => {
  await mailbox[Symbol.asyncDispose]()
  const { raw, bodies, rpc, hooks, wrong } = told
  report({
    suite: 'fuzz-doors',
    topic: 'fuzz',
    what: 'HTTP as bytes over TCP and the Unix socket, bodies of operations, JSON-RPC of both eras, input of hooks, all changed',
    run: 'M4A_KEEP_RESULTS=1 M4A_FUZZ_MS=120000 M4A_SEED=5 node src/bun.mjs test test/e2e/fuzz-doors.test.ts',
    seconds: (performance.now() - began) / 1000,
    cases: { count: raw + bodies + rpc + hooks, what: 'requests' },
    seeds: [random.seed],
    faults: { 'HTTP as bytes': raw, 'body of an operation': bodies, 'JSON-RPC': rpc, 'input of a hook': hooks },
    load: null,
    lost: 0,
    wrong,
    figures: {},
  })
})

function finding(door: string, input: string | Uint8Array, what: string): void {
  told.wrong++
  const folder = join(import.meta.dir, '..', 'fuzz', 'corpus', door)
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `finding-${Bun.hash(input).toString(16).slice(0, 8)}`)
  if (process.env.M4A_KEEP_RESULTS) writeFileSync(path, input)
  throw new Error(`${what}: ${Buffer.from(input).toString('latin1').slice(0, 400)}`)
}

/** Still the same daemon, which has called nothing a fault of its own. */
async function checkWell(): Promise<void> {
  expect(mailbox.daemon.exitCode).toBeNull()
  expect((await ann.ask('whoami')).account).toBe(ann.id)
  expect((await fetch(`${mailbox.url}/health`)).ok).toBe(true)
  expect(readFileSync(join(mailbox.root, 'stderr'), 'utf8')).not.toContain('internal fault')
}

/** Requests that store nothing as they are: reading ones, and letters of nobody. */
function rawSeeds(): Buffer[] {
  const head = (token: string) =>
    `Host: 127.0.0.1:${mailbox.port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`
  const letter = JSON.stringify({ to: bob.id, subject: 's', body: 'b' })
  const nobody = 'A'.repeat(43)
  const hidden = `POST /mail/send HTTP/1.1\r\n${head(nobody)}Content-Length: ${letter.length}\r\n\r\n${letter}`
  return [
    `GET /health HTTP/1.1\r\n${head(ann.token)}\r\n`,
    `POST /mail/whoami HTTP/1.1\r\n${head(ann.token)}Content-Length: 2\r\n\r\n{}`,
    `POST /mail/inbox HTTP/1.1\r\n${head(ann.token)}Transfer-Encoding: chunked\r\n\r\n2;a=b\r\n{}\r\n0\r\nX: y\r\n\r\n`,
    `POST http://127.0.0.1:${mailbox.port}/mail/whoami HTTP/1.1\r\n${head(ann.token)}Content-Length: 0\r\n\r\n`,
    `POST /mail/whoami HTTP/1.1\r\n${head(ann.token)}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
    `POST /mail/whoami HTTP/1.1\r\n${head(ann.token)}Expect: 100-continue\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}`,
    `OPTIONS * HTTP/1.0\r\n${head(nobody)}\r\n`,
    `GET /events?cursor=%zz&x=%00 HTTP/1.1\r\n${head(nobody)}Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n`,
    hidden + hidden,
  ].map((text) => Buffer.from(text))
}

test('HTTP as bytes, whole or in pieces', async () => {
  const pool = [...rawSeeds(), ...corpusOf('http')]
  const before = await storedMessages(mailbox)
  const targets = [{ port: mailbox.port }, { port: mailbox.port, host: '::1' }, { path: mailbox.socket }]
  const one = async (): Promise<void> => {
    const input = random.below(40) === 0 ? random.pick(pool) : mutate(random, random.pick(pool), random.pick(pool))
    const raw = new Raw(random.pick(targets))
    const cut = random.below(3) === 0 ? random.below(input.length) : input.length
    raw.write(input.subarray(0, cut))
    if (cut < input.length) {
      await Bun.sleep(random.below(5))
      raw.write(input.subarray(cut))
    }
    raw.finish()
    const { text } = await raw.read((so) => /\r\n\r\n/.test(so), 300)
    raw.close()
    told.raw++
    if (/^HTTP\/1\.1 500|"kind":"internal"/.test(text)) finding('http', input, 'a fault of ours')
    if (text !== '' && !/^HTTP\/1\.[01] \d{3}/.test(text)) finding('http', input, 'no HTTP')
  }
  for (const end = performance.now() + MS; performance.now() < end; ) await Promise.all(Array.from({ length: 16 }, one))
  expect(await storedMessages(mailbox)).toBe(before)
  await checkWell()
})

test('bodies of operations', async () => {
  const id = (await bob.send(ann.id)).message_id
  const seeds: [string, unknown][] = [
    [
      'send',
      {
        to: ['bob', { kind: 'direct', participant: bob.id }],
        subject: 's',
        body: 'b',
        refs: [{ kind: 'k', locator: 'l' }],
        idempotency_key: 'k',
        correlation: 'c',
        upsert_key: 'u',
      },
    ],
    ['send', { reply_to: id, body: 'b', close: true }],
    ['inbox', { state: 'all', limit: 5, wait_secs: 0, cursor: '00000000.1', max_bytes: 5_000, brief: true }],
    ['get', { message_id: id, peek: true }],
    ['ack', { message_ids: [id] }],
    [
      'search',
      { query: 'a "b c" d*', written_by: 'bob', to: '#r', state: 'new', box: 'sent', since_unix_ms: 1, limit: 3 },
    ],
    ['thread', { message_id: id }],
    ['receipts', { message_id: id }],
    ['directory', { after: null, limit: 2 }],
    ['status', { role: 'r', working_on: 'w' }],
    ['claim', { message_id: id, claim_secs: 5 }],
    ['contacts', { limit: 3 }],
    ['alias', { name: 'n', address: 'bob' }],
    ['stats', { account: ann.id }],
    ['follow', { cursor: null, limit: 3, kinds: ['sent'] }],
  ]
  const one = async (): Promise<void> => {
    const [op, value] = random.pick(seeds)
    const body = JSON.stringify(mutateJson(random, value)) ?? 'null'
    const { status, text } = await ann.post(`/mail/${op}`, body)
    told.bodies++
    if (status === 500 || /"kind":"internal"/.test(text)) finding('bodies', `${op} ${body}`, 'a fault of ours')
    if (status !== 200 && !/"kind":"[a-z_]+"/.test(text)) finding('bodies', `${op} ${body}`, 'no refusal')
  }
  for (const end = performance.now() + MS; performance.now() < end; ) await Promise.all(Array.from({ length: 8 }, one))
  await checkWell()
})

test('JSON-RPC of both eras', async () => {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const call = (name: string, args: object, more: object = {}) => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: args, ...more },
  })
  const seeds: unknown[] = [
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
    },
    { jsonrpc: '2.0', id: 'x', method: 'tools/list', params: {} },
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta: meta } },
    call('m4a_mail_send', { to: bob.id, subject: 's', body: 'b' }),
    call('m4a_mail_inbox', { limit: 2, state: 'new' }, { _meta: { ...meta, threadId: 't' } }),
    call(
      'm4a_mail_hook',
      { client: 'claude', event: 'Stop' },
      { _meta: { 'x-codex-turn-metadata': { session_id: 's', model: 'm' } } },
    ),
    [call('m4a_mail_whoami', {}), { jsonrpc: '2.0', method: 'n' }, { jsonrpc: '2.0', id: 2, method: 'ping' }],
  ]
  const one = async (): Promise<void> => {
    const seed = random.pick(seeds)
    const body = JSON.stringify(mutateJson(random, seed)) ?? 'null'
    const modern = random.below(2) === 0
    const headers: Record<string, string> = modern
      ? {
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': random.pick(['tools/call', 'tools/list', 'x']),
          'mcp-name': random.pick(['m4a_mail_send', 'y']),
        }
      : { 'mcp-protocol-version': random.pick(['2025-11-25', '2025-03-26', '1', '']) }
    const { status, text } = await ann.post('/mcp', body, headers)
    told.rpc++
    if (status === 500 || /-32603|"kind":"internal"/.test(text)) finding('json-rpc-door', body, 'a fault of ours')
    if (status !== 202 && text === '') finding('json-rpc-door', body, `an empty answer ${status}`)
  }
  for (const end = performance.now() + MS; performance.now() < end; ) await Promise.all(Array.from({ length: 8 }, one))
  await checkWell()
})

test('input of hooks: they end with 0 and say nothing', async () => {
  const seeds = corpusOf('hook-input')
  seeds.push(Buffer.from('{"hook_event_name":"Stop","session_id":"s","transcript_path":"/x","cwd":"/","prompt":"p"}'))
  const clients = ['claude', 'codex', 'gemini', 'copilot', 'cursor', 'qwen', 'grok', 'kimi', 'opencode']
  const one = async (): Promise<void> => {
    const input = mutate(random, random.pick(seeds), random.pick(seeds))
    const child = Bun.spawn([BINARY, 'hook', random.pick(clients)], {
      env: { PATH: process.env.PATH ?? '', HOME: mailbox.root, M4A_DATA_DIR: mailbox.data, M4A_RECOGNISED_AGENTS: '' },
      stdin: input,
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [out, err, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    told.hooks++
    if (code !== 0 || out + err !== '') finding('hooks', input, `${code} ${out}${err}`)
  }
  for (const end = performance.now() + MS / 2; performance.now() < end; ) await Promise.all([one(), one()])
  await checkWell()
})

test('all that was stored is of who sent it, and can be read', async () => {
  const accounts = new Set([ann.id, bob.id, 'mail4agent'])
  let letters = 0
  for (let cursor: string | undefined; ; ) {
    const page = await bob.ask('inbox', {
      state: 'all',
      limit: 256,
      max_bytes: 1_000_000,
      ...(cursor ? { cursor } : {}),
    })
    for (const { from } of page.messages) expect(accounts.has(from.participant)).toBe(true)
    letters += page.messages.length
    cursor = page.cursor ?? undefined
    if (!page.has_more) break
  }
  expect(letters).toBeGreaterThan(0)
  await mailbox.down('SIGKILL')
  await mailbox.up()
  expect(await mailbox.admin('check', {})).toMatchObject({ integrity: 'ok' })
})
