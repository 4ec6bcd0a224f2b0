// Grok, its leader socket: we are a second client of its running session. Frames: four bytes of length, big-endian, then JSON.
import { existsSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { notReady, ready, type WakeAdapter, type WakeTarget, type Woken, woken } from '../adapter.ts'
import { readOwn } from '../files.ts'
import { isObject } from '../loopback.ts'
import { argumentsOf } from '../process.ts'

/** Bytes of one frame. */
const LONGEST = 32 * 1024 * 1024
/** Milliseconds until the prompt is seen to run. */
const PROOF_MS = 10_000

const homeOf = ({ environment }: WakeTarget): string | null =>
  environment.GROK_HOME || (environment.HOME ? join(environment.HOME, '.grok') : null)

function socketOf(target: WakeTarget): string | null {
  const home = homeOf(target)
  const path = target.environment.GROK_LEADER_SOCKET || (home === null ? null : join(home, 'leader.sock'))
  if (path === null) return null
  const found = statSync(path, { throwIfNoEntry: false })
  return found?.isSocket() === true && found.uid === process.geteuid?.() ? path : null
}

/**
 * The session of that process in the list of those that run; an empty list is none, a damaged one is said to be. Of a leader
 * it is the one that its client or its folder singles out: the list names the clients in front of it, and it serves them all.
 */
function sessionOf(target: WakeTarget): { id: string; cwd: string } | string {
  const home = homeOf(target)
  const text = home === null ? null : readOwn(join(home, 'active_sessions.json'))
  if (text === null || text.trim() === '') return 'its list of sessions is empty'
  let rows: unknown
  try {
    rows = JSON.parse(text)
  } catch {
    return 'its list of sessions is damaged'
  }
  if (!Array.isArray(rows)) return 'its list of sessions is damaged'
  const sessions = rows.flatMap((row) =>
    isObject(row) && typeof row.session_id === 'string' && typeof row.cwd === 'string' && typeof row.pid === 'number'
      ? [{ id: row.session_id, cwd: row.cwd, pid: row.pid }]
      : [],
  )
  const own = sessions.find(({ pid }) => pid === target.process?.pid)
  if (own !== undefined) return own
  const words = argumentsOf(target)
  if (!words.some((word, at) => word === 'agent' && words[at + 1] === 'leader'))
    return 'its list of sessions does not name that process'
  const served = sessions.filter(({ pid }) => existsSync(`/proc/${pid}`))
  const here = served.filter(({ id, cwd }) => id === target.providerSession || cwd === target.cwd)
  if (served.length === 0) return 'its leader has no session open'
  const [only, ...more] = served.length === 1 ? served : here
  return only !== undefined && more.length === 0 ? only : 'which of the sessions of its leader is meant is not known'
}

export const grokLeader: WakeAdapter = {
  id: 'grok-leader',
  tier: 'session',
  optIn: false,
  serves: ({ provider, session }) => provider === 'grok' && session !== null,
  async probe(target) {
    if (socketOf(target) === null)
      return notReady('it has no leader socket: [cli] use_leader = true in its configuration')
    const session = sessionOf(target)
    return typeof session === 'string' ? notReady(session) : ready()
  },
  async wake(target, letter, signal) {
    const path = socketOf(target)
    const session = sessionOf(target)
    if (path === null || typeof session === 'string') return woken('refused', 'it has gone')
    return prompt(path, session, letter.text, signal)
  },
}

/** Registers, initializes, loads, prompts: ACP inside of the frames. What the leader asks its clients is its user's to answer. */
function prompt(path: string, session: { id: string; cwd: string }, text: string, signal: AbortSignal): Promise<Woken> {
  const { promise, resolve } = Promise.withResolvers<Woken>()
  const socket = connect(path)
  let rest = Buffer.alloc(0)
  let prompted = false
  const course = follow(session.id, text.trim())
  const end = (outcome: Woken) => {
    clearTimeout(timer)
    if (!socket.destroyed) frame({ type: 'disconnect' })
    socket.end()
    resolve(outcome)
  }
  const timer = setTimeout(
    () =>
      end(
        prompted ? woken('unknown', 'it took the prompt, and no turn was seen') : woken('refused', 'it did not answer'),
      ),
    PROOF_MS,
  )
  signal.addEventListener('abort', () => end(woken(prompted ? 'unknown' : 'refused', 'cut short')), { once: true })
  const frame = (message: object) => {
    const body = Buffer.from(JSON.stringify(message))
    const head = Buffer.alloc(4)
    head.writeUInt32BE(body.length)
    socket.write(Buffer.concat([head, body]))
  }
  const acp = (id: number, method: string, params: object) =>
    frame({ type: 'acp', payload: JSON.stringify({ jsonrpc: '2.0', id, method, params }) })
  const begin = () =>
    acp(0, 'initialize', {
      protocolVersion: 1,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
      clientInfo: { name: 'mail4agent', version: '0' },
    })
  const take = (message: unknown) => {
    if (!isObject(message)) return
    if (message.type === 'registered' && message.ready !== false) return begin()
    if (message.type === 'leader_ready') return begin()
    if (message.type === 'error' || message.type === 'shutdown' || message.type === 'shutting_down')
      return end(woken(prompted ? 'unknown' : 'refused', 'the leader said no'))
    if (message.type !== 'acp' || typeof message.payload !== 'string') return
    const answer: unknown = JSON.parse(message.payload)
    if (!isObject(answer)) return
    if (typeof answer.method === 'string') {
      const outcome = prompted && answer.id === undefined ? course(answer.method, answer.params) : null
      if (outcome !== null) end(outcome)
      return
    }
    // number, decimal, or `client|number`
    const id = Number(String(answer.id).split('|').at(-1))
    if (answer.error !== undefined) return end(woken('refused', 'the leader refused it'))
    if (id === 0) acp(1, 'session/load', { sessionId: session.id, cwd: session.cwd, mcpServers: [] })
    else if (id === 1) {
      prompted = true
      acp(2, 'session/prompt', { sessionId: session.id, prompt: [{ type: 'text', text }] })
    } else if (id === 2) end(woken('started', 'the turn is over'))
  }
  socket.on('connect', () => frame({ type: 'register', client_type: 'mail4agent', mode: 'stdio', capabilities: {} }))
  socket.on('error', () => end(woken('refused', 'its leader does not answer')))
  socket.on('close', () =>
    end(prompted ? woken('unknown', 'it hung up after the prompt') : woken('refused', 'it hung up')),
  )
  socket.on('data', (data: Buffer) => {
    rest = Buffer.concat([rest, data])
    while (rest.length >= 4) {
      const size = rest.readUInt32BE(0)
      if (size > LONGEST) return end(woken(prompted ? 'unknown' : 'refused', 'it sent a frame that is too long'))
      if (rest.length < 4 + size) return
      const body = rest.subarray(4, 4 + size).toString('utf8')
      rest = rest.subarray(4 + size)
      try {
        take(JSON.parse(body))
      } catch {
        return end(woken(prompted ? 'unknown' : 'refused', 'it sent something that is no JSON'))
      }
    }
  })
  return promise
}

/**
 * What the leader tells all its clients, of every turn and of none (commands, models), sifted for that one prompt: its queue
 * shows the text, trimmed, beside the id that it gave it, says which id runs, and updates of a turn bear the id of its prompt.
 */
function follow(sessionId: string, text: string): (method: string, params: unknown) => Woken | null {
  let own: string | null = null
  const started = woken('started', 'its queue runs the prompt')
  return (method, params) => {
    if (!isObject(params) || params.sessionId !== sessionId) return null
    if (method === 'session/update')
      return own !== null && isObject(params._meta) && params._meta.promptId === own ? started : null
    if (method !== '_x.ai/queue/changed') return null
    const running = typeof params.runningPromptId === 'string' ? params.runningPromptId : null
    if (running !== null && (running === own || params.runningText === text)) return started
    const entries: unknown[] = Array.isArray(params.entries) ? params.entries : []
    const entry = entries.find((one) => isObject(one) && one.text === text)
    if (!isObject(entry) || typeof entry.id !== 'string') return null
    own = entry.id
    return running === null ? null : woken('queued', 'it is at work; its queue has the prompt')
  }
}
