// The client's side of a channel as Claude Code 2.1.332 has it: how it connects, what it takes of a notification, and what it writes down.
import { spawn, spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { dig, type Json, text } from '../support/json.ts'

const { HOME = '', CHANNEL = '[]', CLAUDE_CODE_SESSION_ID: session = '' } = process.env
const NAME = 'mail4agent-channel'
const folder = join(HOME, '.claude')
const cwd = process.cwd()
const transcript = join(folder, 'projects', cwd.replaceAll(/[^A-Za-z0-9]/g, '-'), `${session}.jsonl`)
mkdirSync(join(transcript, '..'), { recursive: true })
mkdirSync(join(folder, 'sessions'), { recursive: true })
// proc_pid_stat(5): the fields behind the name, which may hold spaces; the first of them is the third
const procStart = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ')[19]
const record = { pid: process.pid, procStart, sessionId: session, cwd, kind: 'interactive', status: 'idle' }
writeFileSync(join(folder, 'sessions', `${process.pid}.json`), JSON.stringify(record))

const say = (what: string, facts: Json | undefined) => process.stdout.write(`${JSON.stringify({ what, facts })}\n`)
const [command = '', ...args]: string[] = JSON.parse(CHANNEL)
const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] })
const answers = new Map<number, (answer: Json) => void>()
let requests = 0

const write = (message: object) => server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)

function ask(method: string, params: object): Promise<Json> {
  const id = requests++
  const { promise, resolve } = Promise.withResolvers<Json>()
  answers.set(id, resolve)
  write({ id, method, params })
  return promise
}

/** Members of `meta` with other names are dropped; the closing tag cannot stand in the text. */
function shown(content: string, meta: Json | undefined): string {
  const attributes = Object.entries(Object(meta))
    .filter(([key]) => /^[a-zA-Z_][a-zA-Z0-9_]*$/.test(key))
    .map(([key, value]) => ` ${key}="${String(value).replaceAll('"', '&quot;')}"`)
  return `<channel source="${NAME}"${attributes.join('')}>\n${content.replaceAll('</channel', '&lt;/channel')}\n</channel>`
}

/** Registered with an argument `take`; else it drops each, as one whose channels are off. */
const takes = process.argv.includes('take')
function hear(params: Json | undefined): void {
  say('notification', params)
  if (!takes) return
  const timestamp = new Date().toISOString()
  const content = shown(text(params, 'content'), dig(params, 'meta'))
  appendFileSync(
    transcript,
    `${JSON.stringify({ type: 'queue-operation', operation: 'enqueue', timestamp, sessionId: session, content })}\n`,
  )
}

async function read(): Promise<void> {
  for await (const line of createInterface({ input: server.stdout })) {
    const message: Json = JSON.parse(line)
    const id = dig(message, 'id')
    if (typeof id === 'number') answers.get(id)?.(message)
    else if (dig(message, 'method') === 'notifications/claude/channel') hear(dig(message, 'params'))
    else say('odd', message)
  }
}
void read()

const clientInfo = { name: 'claude-code', version: '2.1.332' }
const modern = 'io.modelcontextprotocol'
say(
  'discover',
  await ask('server/discover', {
    _meta: { [`${modern}/protocolVersion`]: '2026-07-28', [`${modern}/clientInfo`]: clientInfo },
  }),
)
say('initialize', await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }))
say('ping', await ask('ping', {}))
write({ method: 'notifications/initialized' })
// what its agent does in its shell: from here on the mailbox knows the session
spawnSync(command, ['whoami', '--as', 'claude'], { stdio: 'ignore' })
say('called', {})
process.stdin.on('end', () => process.exit(0)).resume()
