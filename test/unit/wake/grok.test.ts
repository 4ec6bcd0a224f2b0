// Grok's leader against a peer that speaks its protocol: what is sent, and which of all that it tells its clients is of our own prompt.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { WakeLetter, WakeTarget } from '../../../src/wake/adapter.ts'
import { grokLeader } from '../../../src/wake/adapters/grok-leader.ts'

const TEXT = 'mail4agent: a letter has come for you.\nsubject: "quoted" $(x)'
const letter: WakeLetter = {
  id: 'm4a_000000000001000000000001',
  count: 1,
  text: `${TEXT}\n`,
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

const GROK = { sessionId: 'g1' }
const queue = (entries: object[], running?: string, runningText = 'another') => ({
  method: '_x.ai/queue/changed',
  params: { ...GROK, entries, ...(running ? { runningPromptId: running, runningText, runningKind: 'prompt' } : {}) },
})
const update = (sessionUpdate: string, promptId?: string) => ({
  method: 'session/update',
  params: { ...GROK, update: { sessionUpdate }, _meta: promptId ? { promptId } : {} },
})
// the real one trims it
const OWN = { id: 'own', version: 0, kind: 'prompt', text: TEXT, position: 0 }

/** A leader of Grok that says `after` when it has the prompt, and then hangs up if `hangUp` is set; gives what it was asked. */
async function grokPeer(after: object[], hangUp = false): Promise<string[]> {
  const seen: string[] = []
  put(join(home, '.grok', 'active_sessions.json'), [{ session_id: 'g1', pid: process.pid, cwd: home }])
  let rest = Buffer.alloc(0)
  await listen(join(home, '.grok', 'leader.sock'), (socket, data) => {
    const send = (message: object) => {
      const body = Buffer.from(JSON.stringify(message))
      const head = Buffer.alloc(4)
      head.writeUInt32BE(body.length)
      socket.write(Buffer.concat([head, body]))
    }
    rest = Buffer.concat([rest, data])
    while (rest.length >= 4 && rest.length >= 4 + rest.readUInt32BE(0)) {
      const message = JSON.parse(rest.subarray(4, 4 + rest.readUInt32BE(0)).toString())
      rest = rest.subarray(4 + rest.readUInt32BE(0))
      const inner = message.type === 'acp' ? JSON.parse(message.payload) : null
      seen.push(inner ? inner.method : message.type)
      const acp = (payload: object) => send({ type: 'acp', payload: JSON.stringify({ jsonrpc: '2.0', ...payload }) })
      if (message.type === 'register') send({ type: 'registered' })
      else if (inner?.method === 'session/prompt') {
        expect(inner.params).toEqual({ sessionId: 'g1', prompt: [{ type: 'text', text: letter.text }] })
        acp({ id: 2, method: 'session/request_permission', params: {} })
        for (const payload of after) acp(payload)
        if (hangUp) socket.end()
      } else if (inner) acp({ id: `mail4agent|${inner.id}`, result: {} })
    }
  })
  return seen
}

test('Grok: big-endian frames; register, initialize, load, prompt; what the leader asks is not answered', async () => {
  const seen = await grokPeer([queue([OWN]), queue([], 'own', TEXT)])
  expect(await grokLeader.probe(target('grok'), never)).toEqual({ ready: true, busy: false })
  expect(await grokLeader.wake(target('grok'), letter, never)).toMatchObject({ outcome: 'started' })
  await Bun.sleep(20)
  expect(seen).toEqual(['register', 'initialize', 'session/load', 'session/prompt', 'disconnect'])
  // of another process than the target's: only a leader serves it
  put(join(home, '.grok', 'active_sessions.json'), [{ session_id: 'g1', pid: 1, cwd: home }])
  expect(await grokLeader.probe(target('grok'), never)).toMatchObject({ ready: false })
  const leader = Bun.spawn(['sh', '-c', 'read -r line', 'grok', 'agent', 'leader'], { stdin: 'pipe' })
  try {
    // until it has become that program
    while (!readFileSync(`/proc/${leader.pid}/cmdline`, 'utf8').includes('leader')) await Bun.sleep(5)
    const served = target('grok', { process: { pid: leader.pid, start: '1' }, providerSession: null })
    const probe = () => grokLeader.probe(served, never)
    const rows = (...sessions: [string, string][]) =>
      put(
        join(home, '.grok', 'active_sessions.json'),
        sessions.map(([session_id, cwd]) => ({ session_id, pid: process.pid, cwd })),
      )
    rows(['g1', '/elsewhere'])
    expect(await probe()).toMatchObject({ ready: true })
    rows(['g1', '/elsewhere'], ['g2', home])
    expect(await probe()).toMatchObject({ ready: true })
    rows(['g1', home], ['g2', home])
    expect(await probe()).toEqual({
      ready: false,
      why: 'which of the sessions of its leader is meant is not known',
    })
    rows(['g1', '/elsewhere'], ['g2', '/other'])
    expect(await probe()).toMatchObject({ ready: false })
    rows()
    expect(await probe()).toEqual({ ready: false, why: 'its leader has no session open' })
  } finally {
    leader.kill('SIGKILL')
    await leader.exited
  }
  put(join(home, '.grok', 'active_sessions.json'), '')
  expect(await grokLeader.probe(target('grok'), never)).toEqual({ ready: false, why: 'its list of sessions is empty' })
  put(join(home, '.grok', 'active_sessions.json'), '{"a":1}')
  expect(await grokLeader.probe(target('grok'), never)).toEqual({
    ready: false,
    why: 'its list of sessions is damaged',
  })
})

test.each([
  ['its prompt runs at once', [queue([OWN]), queue([], 'own', TEXT)], 'started'],
  ['its prompt runs, known by its text', [queue([], 'own', TEXT)], 'started'],
  ['an update of its own turn', [queue([OWN]), update('agent_message_chunk', 'own')], 'started'],
  [
    'its commands change, then its prompt waits',
    [update('available_commands_update'), queue([OWN], 'other')],
    'queued',
  ],
  [
    'the turn of another goes on, and its prompt waits',
    [update('tool_call', 'other'), queue([], 'other'), queue([{ ...OWN, id: 'x', text: 'y' }, OWN], 'other')],
    'queued',
  ],
  [
    'nothing but what others do',
    [update('available_commands_update'), update('tool_call', 'other'), queue([], 'other'), queue([OWN])],
    'unknown',
  ],
  [
    'another session of the leader runs the same text',
    [{ method: '_x.ai/queue/changed', params: { sessionId: 'g2', runningPromptId: 'z', runningText: TEXT } }],
    'unknown',
  ],
])('Grok: %s', async (_, after, outcome) => {
  await grokPeer(after, true)
  expect(await grokLeader.wake(target('grok'), letter, never)).toMatchObject({ outcome })
})
