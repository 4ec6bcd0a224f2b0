// A client's own command for the mailbox, started and asked as the client would: initialize, the list of tools, whoami.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { LOOK_VARIABLE } from '../../wire/look.ts'
import { Refusal } from '../../wire/refusal.ts'

export type Answer = { tools: number; account: string; address: string }

const REQUESTS = [
  {
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'mail4agent-doctor', version: '1' },
    },
  },
  { method: 'notifications/initialized' },
  { id: 2, method: 'tools/list' },
  { id: 3, method: 'tools/call', params: { name: 'm4a_mail_whoami', arguments: {} } },
]

/** A client starts its servers with its own environment: what stands in our shell alone would hide what it lacks. */
const PASSED = ['PATH', 'HOME', 'USER', 'USERPROFILE', 'LOCALAPPDATA', 'APPDATA', 'SYSTEMROOT', 'TEMP', 'TMP', 'TMPDIR']

/**
 * Runs `words` and resolves to what whoami answered.
 * @throws Refusal of the mailbox; Error when the command does not speak MCP, or not within `ms`
 */
export async function askBridge(
  words: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  ms: number,
): Promise<Answer> {
  const [program = '', ...rest] = words
  // a session of its own in the kernel's sense: it is nobody's terminal, and the account seems to be read by nobody
  const child = spawn(program, rest, {
    env: {
      ...Object.fromEntries(PASSED.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
      [LOOK_VARIABLE]: '1',
    },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
  })
  const failed = Promise.withResolvers<never>()
  let said = ''
  child.stderr.on('data', (part) => {
    said = `${said}${part}`.slice(-500)
  })
  child.stdin.on('error', () => {})
  child.on('error', (error) => failed.reject(error))
  child.on('close', (code) => {
    const last = said.trim().split('\n').at(-1) ?? ''
    failed.reject(new Error(`it ended with ${code}${last === '' ? '' : `: ${last}`}`))
  })
  const timer = setTimeout(() => failed.reject(new Error(`no answer within ${ms / 1_000} s`)), ms)
  try {
    for (const request of REQUESTS) child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...request })}\n`)
    return await Promise.race([read(child.stdout), failed.promise])
  } finally {
    clearTimeout(timer)
    child.stdin.end()
    end(child.pid)
  }
}

/** With its children, where it made a process group. */
function end(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL')
  } catch {
    // it has ended
  }
}

async function read(output: NodeJS.ReadableStream): Promise<Answer> {
  let tools = 0
  for await (const line of createInterface({ input: output })) {
    const message = object(JSON.parse(line))
    if (message.error !== undefined) throw new Error(`it answers an error: ${object(message.error).message}`)
    const result = object(message.result)
    if (message.id === 2) tools = Array.isArray(result.tools) ? result.tools.length : 0
    if (message.id !== 3) continue
    const content = object(result.structuredContent)
    const refusal = result.isError === true ? Refusal.from(content) : null
    if (refusal !== null) throw refusal
    if (typeof content.account !== 'string') throw new Error('it answers something else')
    return { tools, account: content.account, address: String(content.address_text) }
  }
  throw new Error('it ended without an answer')
}

const object = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? { ...value } : {}
