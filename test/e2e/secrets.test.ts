// No secret and no digest of one is in any answer at any door, in the log, in what other processes can see; file modes.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { join, relative } from 'node:path'
import { ADMIN } from '../../src/wire/admin.ts'
import { OPERATION_NAMES, type OperationName } from '../../src/wire/operations.ts'
import { BINARY, Mailbox } from './support/mailbox.ts'

let mailbox: Mailbox
const secrets: Record<string, string> = {}
const LISTENED = 'http://127.0.0.1:9/bell'

beforeAll(async () => {
  // what the modes are must not depend on who starts it
  const umask = process.umask(0)
  mailbox = await Mailbox.start()
  process.umask(umask)
  for (const name of ['ann', 'bob', 'cleo']) secrets[name] = await mailbox.account(name)
  await mailbox.admin('room', { id: 'build' })
  await mailbox.admin('room/member/add', { room: 'build', participant: 'ann' })
  secrets.operator = mailbox.operatorKey
  secrets['the listener'] = String((await mailbox.admin('listener', { account: 'cleo', url: LISTENED })).key)
})
afterAll(() => mailbox[Symbol.asyncDispose]())

/** All that was ever said, by whom. */
const said: [where: string, text: string][] = []

/** Pieces of the secrets and of their digests, in the forms that bytes are written in. */
function needles(): [whose: string, needle: string][] {
  return Object.entries(secrets).flatMap(([name, secret]) => {
    const digest = createHash('sha256').update(secret).digest()
    const ofBytes = createHash('sha256').update(Buffer.from(secret, 'hex')).digest()
    const forms = [secret, digest.toString('hex'), ofBytes.toString('hex')].flatMap((hex) => [
      hex.slice(0, 16),
      hex.slice(24, 40),
      hex.slice(-16),
    ])
    const bytes = [Buffer.from(secret, 'hex'), digest].map((one) => one.toString('base64').slice(0, 20))
    return [...forms, ...bytes].map((needle): [string, string] => [name, needle])
  })
}

function leaks(): string[] {
  return needles().flatMap(([whose, needle]) =>
    said
      .filter(([, text]) => text.toLowerCase().includes(needle.toLowerCase()))
      .map(([where]) => `${whose} in ${where}`),
  )
}

/** One request at the TCP door or the socket; all that comes back, headers too. Streams are read for a moment. */
function raw(
  over: 'tcp' | 'unix',
  method: string,
  path: string,
  token: string | null,
  body?: string,
  more = {},
): Promise<string> {
  const target = over === 'tcp' ? { host: '127.0.0.1', port: mailbox.port } : { socketPath: mailbox.socket }
  const headers = {
    host: '127.0.0.1',
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...more,
  }
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({ ...target, path, method, headers }, (answer) => {
      let text = `${answer.statusCode} ${JSON.stringify(answer.rawHeaders)}\n`
      const end = () => resolve(text)
      if (path.startsWith('/events')) setTimeout(() => outgoing.destroy(), 300)
      answer.on('data', (part: Buffer) => {
        text += part.toString()
      })
      answer.on('end', end)
      answer.on('error', end)
      answer.on('close', end)
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

async function say(
  over: 'tcp' | 'unix',
  method: string,
  path: string,
  token: string | null,
  body?: unknown,
  more = {},
) {
  const text = await raw(over, method, path, token, body === undefined ? undefined : JSON.stringify(body), more)
  said.push([`${over} ${method} ${path.slice(0, 60)}`, text])
  return text
}

describe('no digest and no secret is in any answer', () => {
  let letter = ''
  let started = 0
  const cliDone: string[] = []
  beforeAll(async () => {
    letter = String(
      (await mailbox.post('/mail/send', secrets.ann!, { to: 'cleo', subject: 's', body: 'b' })).body.message_id,
    )
    const profile = { provider: 'command', program: '/bin/true', cwd: '/', per_day: 1_000, allow: ['cleo'] }
    await mailbox.admin('agent', { id: 'ann', ...profile })
    await mailbox.admin('participant/set', { id: 'cleo', may_dispatch: true })
    const woken = await mailbox.post('/mail/dispatch_wake', secrets.cleo!, { target: 'ann' })
    started = (woken.body.dispatch as { id: number }).id
  })

  /** A request of each operation that is accepted. */
  const requests = (): Record<OperationName, object> => ({
    send: { to: ['ann', 'cleo', 'nobody'], subject: 's', body: 'words' },
    inbox: { state: 'all' },
    get: { message_id: letter },
    ack: { message_id: letter },
    close: { message_ids: [letter] },
    reopen: { message_id: letter },
    claim: { message_id: letter },
    unread: {},
    notice: {},
    sent: {},
    thread: { message_id: letter },
    search: { query: 'words' },
    receipts: {},
    archive: {},
    export: {},
    whoami: {},
    status: { working_on: 'tests' },
    directory: {},
    ping: { target: 'cleo' },
    follow: { written_by: 'ann' },
    close_all: { written_by: 'cleo' },
    contacts: {},
    alias: { name: 'friend', address: 'cleo' },
    rooms: {},
    join: { room: 'build' },
    leave: { room: 'build' },
    stats: {},
    notify: { do: 'status' },
    dispatch_wake: { target: 'ann' },
    dispatch_status: {},
    dispatch_show: { id: started },
    dispatch_logs: { id: started },
    dispatch_stop: { id: started },
    stand_by: { door: 'claude-rewake', wait_secs: 0 },
  })

  test('every operation, accepted and refused, for an account and the operator', async () => {
    for (const over of ['tcp', 'unix'] as const)
      for (const name of ['ann', 'cleo', 'operator'])
        for (const operation of OPERATION_NAMES) {
          const text = await say(over, 'POST', `/mail/${operation}`, secrets[name]!, requests()[operation])
          if (name === 'cleo' && operation !== 'join')
            expect(`${operation} ${text.slice(0, 4)}`).toBe(`${operation} 200 `)
          await say(over, 'POST', `/mail/${operation}`, secrets[name]!, { nonsense: 1 })
        }
    expect(leaks()).toEqual([])
  })

  test('every admin route that answers a list or changes something, and the refusals of them all', async () => {
    const accepted: Partial<Record<keyof typeof ADMIN, object>> = {
      'participant/set': { id: 'cleo', label: 'changed' },
      'participant/list': {},
      'room/list': {},
      'listener/list': {},
      'orphan/list': {},
      'orphan/release': { account: 'cleo', session: 's-00000000' },
      retention: { run: true },
      backup: {},
      check: {},
    }
    for (const route of Object.keys(ADMIN)) {
      for (const name of ['operator', 'ann'])
        await say('tcp', 'POST', `/admin/${route}`, secrets[name]!, { nonsense: 1 })
      const request = accepted[route as keyof typeof ADMIN]
      if (request) await say('unix', 'POST', `/admin/${route}`, secrets.operator!, request)
    }
    // a taken name gives nothing of the one who has it; a digest that was given is not repeated
    await say('tcp', 'POST', '/admin/participant', secrets.operator!, { id: 'ANN' })
    const own = 'c0ffee'.repeat(10)
    secrets.digested = own
    const digest = createHash('sha256').update(own).digest('hex')
    expect(await say('tcp', 'POST', '/admin/participant', secrets.operator!, { id: 'digested', digest })).toStartWith(
      '200 ',
    )
    expect(
      await say('tcp', 'POST', '/admin/participant/rotate', secrets.operator!, { id: 'digested', digest }),
    ).toStartWith('200 ')
    await say('tcp', 'POST', '/admin/participant/list', secrets.operator!, {})
    expect(leaks()).toEqual([])
  })

  test('health, metrics, openapi, events, and whatever else is asked for', async () => {
    for (const path of [
      '/health',
      '/metrics',
      '/openapi.json',
      '/events',
      '/mcp',
      '/',
      '/mail/nothing',
      '/.well-known/x',
    ])
      for (const name of ['operator', 'cleo', null])
        for (const method of ['GET', 'POST', 'DELETE'])
          await say('tcp', method, path, name === null ? null : secrets[name]!, method === 'POST' ? {} : undefined)
    expect(leaks()).toEqual([])
  })

  test('what is presented in a wrong place is not echoed', async () => {
    const secret = secrets.cleo!
    const digest = createHash('sha256').update(secret).digest('hex')
    await say('tcp', 'POST', '/mail/whoami', `${secret}x`, {})
    await say('tcp', 'POST', '/mail/whoami', null, {}, { authorization: `Basic ${secret}` })
    await say('tcp', 'POST', `/mail/whoami?token=${secret}`, null, {})
    await say('tcp', 'POST', `/mail/${secret}`, null, {})
    for (const field of ['token', 'secret', 'digest', 'to', 'cursor', 'message_id', 'idempotency_key', 'reply_to'])
      await say('tcp', 'POST', '/mail/send', secrets.ann!, { subject: 's', body: 'b', [field]: { [field]: secret } })
    await say('tcp', 'POST', '/admin/participant', secrets.operator!, { id: 'new', digest: `${digest}0` })
    await say('tcp', 'POST', '/admin/participant', secrets.operator!, { id: 'new', digest: digest.toUpperCase() })
    await say('tcp', 'POST', '/mcp', secret, {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: secret.length },
    })
    expect(leaks()).toEqual([])
  })

  test('MCP: the handshake, the list and every tool, in both eras', async () => {
    const version = '2026-07-28'
    const meta = {
      'io.modelcontextprotocol/protocolVersion': version,
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const post = (method: string, params: object, more: object) =>
      say('tcp', 'POST', '/mcp', secrets.ann!, { jsonrpc: '2.0', id: 1, method, params }, more)
    const clientInfo = { name: 'test', version: '1' }
    await post('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }, {})
    const listed = await post('tools/list', {}, { 'mcp-protocol-version': '2025-11-25' })
    const tools: string[] = JSON.parse(listed.slice(listed.indexOf('\n') + 1)).result.tools.map((one: any) => one.name)
    expect(tools.length).toBeGreaterThanOrEqual(8)
    await post('server/discover', { _meta: meta }, { 'mcp-protocol-version': version, 'mcp-method': 'server/discover' })
    for (const name of tools) {
      const operation = name.replace('m4a_mail_', '').replace('peers', 'directory') as OperationName
      for (const args of [requests()[operation], { nonsense: 1 }]) {
        await post('tools/call', { name, arguments: args }, { 'mcp-protocol-version': '2025-11-25' })
        const headers = { 'mcp-protocol-version': version, 'mcp-method': 'tools/call', 'mcp-name': name }
        await post('tools/call', { name, arguments: args, _meta: meta }, headers)
      }
    }
    expect(leaks()).toEqual([])
  })

  test('the command line, for people and as JSON; nothing in the arguments of what runs', async () => {
    const env = {
      PATH: process.env.PATH ?? '',
      HOME: mailbox.root,
      M4A_DATA_DIR: mailbox.data,
      M4A_RECOGNISED_AGENTS: '',
    }
    const run = async (argv: string[], token?: string) => {
      const child = Bun.spawn([BINARY, ...argv], {
        env: { ...env, ...(token ? { M4A_TOKEN: token } : {}) },
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
      said.push([`mail4agent ${argv.join(' ')}`, out + err])
      if ((await child.exited) === 0) cliDone.push(argv.join(' '))
    }
    // a token that the command line made itself is a secret as well
    for (const command of ['add', 'rotate']) {
      await run(['admin', 'account', command, 'made'])
      secrets[`made ${command}`] = readFileSync(join(mailbox.data, 'tokens', 'made'), 'utf8').trim()
    }
    expect(secrets['made add']).not.toBe(secrets['made rotate'])
    const asOperator = ['account list', 'room list', 'listener list', 'orphans list', 'backup'].map(
      (line) => `admin ${line}`,
    )
    const asAnn = [
      'whoami',
      'peers',
      'inbox',
      'sent',
      'receipts',
      'unread',
      'status',
      'doctor',
      'ping cleo',
      'search words',
      `thread ${letter}`,
      `view ${letter}`,
    ]
    for (const json of [[], ['--json']]) {
      for (const line of asOperator) await run([...line.split(' '), ...json])
      for (const line of asAnn) await run([...line.split(' '), ...json], secrets.ann)
      await run(['whoami', ...json], `${secrets.ann}x`)
      await run(['whoami', '--as', 'made', ...json])
    }
    expect(cliDone.length).toBe(2 + 2 * (asOperator.length + asAnn.length + 1))

    const waiting = Bun.spawn([BINARY, 'wait', '--timeout', '20'], {
      env: { ...env, M4A_TOKEN: secrets.ann! },
      stdout: 'ignore',
      stderr: 'ignore',
    })
    for (let tries = 0; tries < 200; tries++) {
      if (Number((await mailbox.post('/mail/ping', secrets.bob!, { target: 'ann' })).body.waiting) > 0) break
      await Bun.sleep(20)
    }
    for (const pid of [mailbox.daemon.pid, waiting.pid, ...childrenOf(mailbox.daemon.pid), ...childrenOf(waiting.pid)])
      said.push([`arguments of ${pid}`, readFileSync(`/proc/${pid}/cmdline`, 'utf8')])
    for (const pid of [mailbox.daemon.pid, ...childrenOf(mailbox.daemon.pid), ...childrenOf(waiting.pid)])
      said.push([`environment of ${pid}`, readFileSync(`/proc/${pid}/environ`, 'utf8')])
    waiting.kill('SIGTERM')
    await waiting.exited
    expect(leaks()).toEqual([])
  }, 60_000)

  test('log, daemon.json, and every file but those that are there to hold a secret', async () => {
    for (const name of ['stdout', 'stderr'])
      said.push([`${name} of the daemon`, readFileSync(join(mailbox.root, name), 'utf8')])
    expect(said.some(([where, text]) => where === 'stderr of the daemon' && text.includes('listening'))).toBe(true)
    said.push(['daemon.json', readFileSync(join(mailbox.data, 'daemon.json'), 'utf8')])
    expect(leaks()).toEqual([])

    // the store has digests to verify with and listener keys to sign with; a bearer secret is nowhere in it
    const bearers = Object.entries(secrets).filter(([name]) => name !== 'the listener')
    for (const path of files(mailbox.data)) {
      if (path.endsWith('operator.key') || path.includes('/tokens/') || path.endsWith('.sock')) continue
      const bytes = readFileSync(path)
      for (const [name, secret] of bearers)
        expect([
          relative(mailbox.data, path),
          name,
          bytes.includes(secret) || bytes.includes(Buffer.from(secret, 'hex')),
        ]).toEqual([relative(mailbox.data, path), name, false])
    }
  })

  test('the search for leaks finds one', () => {
    said.push(['here', `{"digest":"${createHash('sha256').update(secrets.bob!).digest('hex')}"}`])
    expect(new Set(leaks())).toEqual(new Set(['bob in here']))
    said.pop()
  })
})

function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  )
}

function files(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
}

test('folders are 0700 and files 0600, whatever the umask is', () => {
  const modes = readdirSync(mailbox.data, { recursive: true, encoding: 'utf8' }).map((name) => {
    const stats = statSync(join(mailbox.data, name))
    return [name, stats.isDirectory() ? 'folder' : 'file', (stats.mode & 0o7777).toString(8)]
  })
  expect((statSync(mailbox.data).mode & 0o7777).toString(8)).toBe('700')
  expect(modes.filter(([, kind, mode]) => mode !== (kind === 'folder' ? '700' : '600'))).toEqual([])
  const names = modes.map(([name]) => name)
  for (const name of [
    'mail.sqlite',
    'mail.sqlite-wal',
    'search.sqlite',
    'operator.key',
    'lock',
    'daemon.json',
    'm4a.sock',
    'tokens',
    'tokens/made',
    'backups',
  ])
    expect(names).toContain(name)
})
