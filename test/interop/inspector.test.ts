// The MCP inspector against the compiled mailbox: our schemas are portable, and both eras list and call.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type Mailbox, startMailbox } from '../clients/mailbox.ts'
import { type Json, list, text } from '../support/json.ts'
import { inspectorScript } from './install.ts'

let script: string
let mailbox: Mailbox
let token: string

beforeAll(async () => {
  script = await inspectorScript()
  mailbox = await startMailbox()
  token = await mailbox.account('inspector')
}, 180_000)
afterAll(() => mailbox?.stop())

async function inspect(...args: string[]): Promise<{ exit: number; out: Json; err: string }> {
  const where = ['--server-url', `${mailbox.url}/mcp`, '--transport', 'http', '--format', 'json']
  const child = Bun.spawn([process.execPath, script, '--cli', ...where, ...args], {
    // A HOME of its own: the inspector keeps files there.
    env: { PATH: process.env.PATH ?? '', HOME: join(mailbox.dataDir, '..'), NO_COLOR: '1' },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { exit: await child.exited, out: out.startsWith('{') ? JSON.parse(out) : out, err }
}

const bearer = () => ['--header', `Authorization: Bearer ${token}`]

test.each(['legacy', 'auto', 'modern'])(
  'tools/list --strict, %s',
  async (era) => {
    const { exit, out, err } = await inspect(...bearer(), '--method', 'tools/list', '--strict', '--protocol-era', era)
    // Findings of any severity are told on stderr.
    expect([exit, err.trim()]).toEqual([0, ''])
    expect(list(out, 'result', 'tools')).toHaveLength(8)
  },
  30_000,
)

test.each(['legacy', 'modern'])(
  'tools/call, %s',
  async (era) => {
    const call = ['--method', 'tools/call', '--tool-name', 'm4a_mail_whoami', '--tool-args-json', '{}']
    const { exit, out } = await inspect(...bearer(), ...call, '--protocol-era', era)
    expect(exit).toBe(0)
    expect(text(out, 'result', 'structuredContent', 'account')).toBe('inspector')
  },
  30_000,
)

test('without a token the inspector hears that it needs one', async () => {
  const { exit, err } = await inspect('--method', 'tools/list')
  expect(exit).not.toBe(0)
  expect(err).toContain('auth_required')
}, 30_000)
