// Doors of clients against peers that speak their protocols on sockets, files and loopback: what is sent, and what each answer means.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { WakeLetter, WakeTarget } from '../../../src/wake/adapter.ts'
import { acpHost } from '../../../src/wake/adapters/acp.ts'
import { claudeInbox } from '../../../src/wake/adapters/claude-inbox.ts'
import { kimiServer } from '../../../src/wake/adapters/kimi-server.ts'
import { qwenPeer } from '../../../src/wake/adapters/qwen.ts'
import { resumeDoors } from '../../../src/wake/adapters/resume.ts'

const TEXT = 'mail4agent: a letter has come for you.\nsubject: "quoted" $(x)'
const letter: WakeLetter = {
  id: 'm4a_000000000001000000000001',
  count: 1,
  text: TEXT,
  plain: 'mail4agent: a letter has come for you.',
  letter: null,
  to: 'ben',
  room: null,
}
const ID = '0b4f6a39-3c41-4a1c-9d38-0a4d7a3f1c01'
const never = new AbortController().signal
const servers: Server[] = []
let home: string

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'm4a-peer-'))
})
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
  rmSync(home, { recursive: true, force: true })
})

const target = (provider: string, more: Partial<WakeTarget> = {}): WakeTarget => ({
  account: 'ben',
  session: 's-0123',
  row: 1,
  provider,
  providerSession: ID,
  conversation: null,
  cwd: home,
  exe: null,
  process: { pid: process.pid, start: '42' },
  attended: true,
  environment: { HOME: home },
  ...more,
})

function listen(path: string, take: (socket: Socket, data: Buffer) => void): Promise<void> {
  const server = createServer((socket) =>
    socket.on('data', (data) => take(socket, Buffer.from(data))).on('error', () => {}),
  )
  servers.push(server)
  return new Promise((resolve) => server.listen(path, resolve))
}
const put = (path: string, value: unknown, mode = 0o600) => {
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value), { mode })
}

test('Kimi: the newest live server, its bearer; an error within a 200 is a refusal', async () => {
  const seen: unknown[] = []
  let answer: unknown = { code: 0, data: { status: 'running', prompt_id: 'p' } }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const path = new URL(request.url).pathname
      if (path === '/api/v1/sessions') {
        const item = (id: string, updated_at: string, archived = false) => ({ id, updated_at, archived })
        const items = [
          item('session_old', '2026-12-01T00:00:00Z'),
          item('session_new', '2026-12-01T01:00:00Z'),
          item('session_shut', '2026-12-01T02:00:00Z', true),
          item('../x', '2026-12-01T03:00:00Z'),
        ]
        return Response.json({ code: 0, data: { items } })
      }
      if (request.method === 'GET') return Response.json({ code: 0, data: { busy: true } })
      seen.push([path, request.headers.get('authorization'), await request.json()])
      return Response.json(answer)
    },
  })
  const folder = join(home, '.kimi-code')
  put(join(folder, 'server.token'), 'tok\n')
  put(join(folder, 'server', 'instances', 'old.json'), { pid: 4_194_304, host: '127.0.0.1', port: 1, heartbeat_at: 9 })
  put(join(folder, 'server', 'instances', 'new.json'), { pid: process.pid, port: server.port, heartbeat_at: 5 })
  expect(await kimiServer.probe(target('kimi'), never)).toEqual({ ready: true, busy: true })
  expect(await kimiServer.wake(target('kimi'), letter, never)).toMatchObject({ outcome: 'started' })
  expect(seen).toEqual([[`/api/v1/sessions/${ID}/prompts`, 'Bearer tok', { content: [{ type: 'text', text: TEXT }] }]])
  answer = { code: 0, data: { status: 'queued' } }
  expect(await kimiServer.wake(target('kimi'), letter, never)).toMatchObject({ outcome: 'queued' })
  for (const no of [{ code: 40_401 }, { code: 0, data: { status: 'blocked' } }]) {
    answer = no
    expect(await kimiServer.wake(target('kimi'), letter, never)).toMatchObject({ outcome: 'refused' })
  }
  // the server itself: the session that was at work last; another process shows none
  const itself = target('kimi', { providerSession: null })
  answer = { code: 0, data: { status: 'running' } }
  expect(await kimiServer.wake(itself, letter, never)).toMatchObject({ outcome: 'started' })
  expect(JSON.stringify(seen.at(-1))).toContain('/api/v1/sessions/session_new/prompts')
  const plain = target('kimi', { providerSession: null, process: { pid: 1, start: '1' } })
  expect(await kimiServer.probe(plain, never)).toMatchObject({ ready: false })
  const odd = target('kimi', { providerSession: '../x' })
  expect(await kimiServer.probe(odd, never)).toMatchObject({ ready: false })
  await server.stop(true)
})

test('Qwen: a message of a peer is held for its user; who closes says no', async () => {
  const path = join(home, 'q.sock')
  const lines: string[] = []
  let hangUp = false
  await listen(path, (socket, data) => {
    lines.push(...data.toString().split('\n').filter(Boolean))
    if (hangUp) socket.destroy()
  })
  put(join(home, '.qwen', 'sessions', `${process.pid}.json`), {
    procStart: 'boot:42',
    ipcPath: path,
    ipcToken: 'tok',
    sessionId: ID,
  })
  expect(await qwenPeer.wake(target('qwen'), letter, never)).toMatchObject({ outcome: 'held' })
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { msgV: 1, type: 'auth', token: 'tok' },
    { msgV: 1, type: 'user', toSessionId: ID, priority: 'next', message: { role: 'user', content: TEXT } },
  ])
  hangUp = true
  expect(await qwenPeer.wake(target('qwen'), letter, never)).toMatchObject({ outcome: 'refused' })
  const other = target('qwen', { process: { pid: process.pid, start: '43' } })
  expect(await qwenPeer.probe(other, never)).toMatchObject({ ready: false })
})

test("Claude's inbox: auth, then the line; taken only where its transcript says so, held and refused as it answers", async () => {
  const path = join(home, 'c.sock')
  const folder = join(home, '.claude')
  const transcript = join(folder, 'projects', home.replaceAll(/[^A-Za-z0-9]/g, '-'), `${ID}.jsonl`)
  put(transcript, '')
  put(join(folder, 'sessions', `${process.pid}.json`), {
    pid: process.pid,
    procStart: '42',
    sessionId: ID,
    cwd: home,
    status: 'idle',
    messagingSocketPath: path,
  })
  put(join(folder, 'sessions', `${process.pid}.ab.key`), { peerToken: 'tok' })
  let react: (message: { from: string; msg_id: string }) => void = () => {}
  const types: string[] = []
  await listen(path, (_, data) => {
    for (const line of data.toString().split('\n').filter(Boolean)) {
      const message = JSON.parse(line)
      types.push(message.type)
      if (message.type === 'user') react(message)
    }
  })
  react = () => put(transcript, `${JSON.stringify({ type: 'queue-operation', operation: 'enqueue', content: TEXT })}\n`)
  expect(await claudeInbox.wake(target('claude'), letter, never)).toMatchObject({ outcome: 'started' })
  expect(types).toEqual(['auth', 'user'])
  const answer = (status: string) => (message: { from: string; msg_id: string }) => {
    const socket = connect(message.from.replace(/^uds:/, ''))
    socket.end(
      `${JSON.stringify({ type: 'control', action: 'peer_message_status', status, orig_msg_id: message.msg_id })}\n`,
    )
  }
  react = answer('held')
  expect(await claudeInbox.wake(target('claude'), letter, never)).toMatchObject({ outcome: 'held' })
  react = answer('denied')
  expect(await claudeInbox.wake(target('claude'), letter, never)).toMatchObject({ outcome: 'refused' })
  react = () => {}
  expect(await claudeInbox.wake(target('claude'), letter, never)).toMatchObject({ outcome: 'unknown' })
}, 15_000)

/** An ACP agent that asks for a permission in each turn, and writes down what it was told. */
const AGENT = `
const { appendFileSync } = require('node:fs')
const say = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }))
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line)
  appendFileSync(process.argv[2], line + '\\n')
  if (message.method === 'session/prompt') {
    say({ method: 'session/update', params: {} })
    say({ id: 9, method: 'session/request_permission', params: {} })
    setTimeout(() => say({ id: message.id, result: { stopReason: 'end_turn' } }), 300)
  } else if (message.method) say({ id: message.id, result: {} })
})
`

test('an ACP agent: loads its session, never makes one; prompts one after the other; permission is not given', async () => {
  const script = join(home, 'agent.js')
  const told = join(home, 'told')
  writeFileSync(script, AGENT)
  put(join(home, 'wake', 'ben.json'), { acp: [process.execPath, script, told] })
  const host = acpHost({ dataDir: home, env: { PATH: process.env.PATH } })
  const gone = target('claude', { process: null, attended: false })
  expect(await host.probe(gone, never)).toEqual({ ready: true, busy: false })
  expect(await host.wake(gone, letter, never)).toMatchObject({ outcome: 'started' })
  expect(await host.probe(gone, never)).toEqual({ ready: true, busy: true })
  expect(await host.wake(gone, letter, never)).toMatchObject({ outcome: 'queued' })
  await Bun.sleep(1_500)
  const lines = readFileSync(told, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const turn = ['initialize', 'session/load', 'session/prompt', undefined]
  expect(lines.map(({ method }) => method)).toEqual([...turn, ...turn])
  expect(lines[1].params).toEqual({ sessionId: ID, cwd: home, mcpServers: [] })
  expect(lines[3].result).toEqual({ outcome: { outcome: 'cancelled' } })
  expect(await host.probe(target('claude'), never)).toMatchObject({ ready: false })
})

test('a new process: not where the session is held; the letter on standard input, nothing of it in argv', async () => {
  const program = join(home, 'claude')
  writeFileSync(program, `#!/bin/sh\ncat > ${home}/in; tr '\\0' '\\n' < /proc/$$/cmdline > ${home}/argv; sleep 0.3\n`, {
    mode: 0o700,
  })
  let called = 0
  const doors = resumeDoors({ env: { PATH: process.env.PATH, M4A_TOKEN: 'x' }, now: Date.now, lastCall: () => called })
  const door = doors.find(({ id }) => id === 'claude-resume')
  if (!door) throw new Error('no door')
  expect(door.optIn).toBe(true)
  const gone = target('claude', { process: null, attended: false, exe: program })
  expect(await door.probe(target('claude', { exe: program }), never)).toMatchObject({ ready: false })
  put(join(home, '.claude', 'sessions', `${process.pid}.json`), { pid: process.pid, sessionId: ID })
  expect(await door.probe(gone, never)).toEqual({ ready: false, why: 'a process of Claude Code holds the session' })
  rmSync(join(home, '.claude'), { recursive: true })
  expect(await door.probe(gone, never)).toEqual({ ready: true, busy: false })
  setTimeout(() => {
    called = Date.now() + 1
  }, 150)
  expect(await door.wake(gone, letter, never)).toMatchObject({ outcome: 'started' })
  await Bun.sleep(300)
  expect(readFileSync(join(home, 'in'), 'utf8')).toBe(TEXT)
  expect(readFileSync(join(home, 'argv'), 'utf8').trim().split('\n').slice(2)).toEqual(['-p', '--resume', ID])
  writeFileSync(program, '#!/bin/sh\nexit 3\n', { mode: 0o700 })
  expect(await door.wake(gone, letter, never)).toEqual({ outcome: 'refused', detail: 'the new process ended with 3' })
})
