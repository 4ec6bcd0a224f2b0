// MCP beside HTTP: the same send through both doors, and a call without storage beside the official SDK.
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import { body, HTTP, holds, post } from '../http.ts'
import { BODY, RECIPIENTS, SENDERS, SUBJECT, sends, turns } from '../letters.ts'
import type { Target } from '../load.ts'
import { openMailbox } from '../peers/mailbox.ts'
import { sdkServer } from '../peers/peers.ts'
import { interleave, series } from '../rounds.ts'
import { ratios } from '../stats.ts'
import { asker } from '../wire.ts'

const CONNECTIONS = [16]
const VERSION = '2025-06-18'
const ACCEPT = [
  'Accept: application/json, text/event-stream',
  `MCP-Protocol-Version: ${VERSION}`,
  'Mcp-Session-Id: bench',
]

const call = (token: string, name: string, args: object): Buffer =>
  post('/mcp', token, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }, ACCEPT)

export async function benchMcp(bench: Bench): Promise<void> {
  const mailbox = await openMailbox(join(bench.folder, 'mcp'))
  const names = Array.from({ length: SENDERS }, (_, i) => `sender-${i}`)
  await mailbox.accounts([...names, ...Array.from({ length: RECIPIENTS }, (_, i) => `box-${i}`)])
  const token = (sender: number) => mailbox.token(`sender-${sender}`)
  const sdk = await sdkServer()
  if (sdk) await beginSession(sdk.port)
  else bench.skip('MCP beside the official SDK', '@modelcontextprotocol/sdk is not installed')

  const letter = (turn: number) => ({ to: `box-${(turn * 7919) % RECIPIENTS}`, subject: SUBJECT, body: BODY })
  const over = turns((turn) => call(token(turn % SENDERS), 'm4a_mail_send', letter(turn)))
  const targets: Target[] = [
    { name: '/mail/send', ...mailbox, protocol: HTTP, next: sends(token), good: holds('"message_id":"m4a_') },
    { name: '/mcp send', ...mailbox, protocol: HTTP, next: over, good: holds('"message_id":"m4a_') },
    {
      name: '/mcp whoami',
      ...mailbox,
      protocol: HTTP,
      next: turns((turn) => call(token(turn % SENDERS), 'm4a_mail_whoami', {})),
      good: holds('"address":{'),
    },
    ...(sdk
      ? [{ name: 'SDK', ...sdk, protocol: HTTP, next: turns(() => call('-', 'whoami', {})), good: holds('address') }]
      : []),
  ]
  const runs = await interleave(targets, CONNECTIONS, bench.plan)
  for (const { name } of targets) {
    bench.row('mcp', `${name}, c=16`, '/s', series(runs, name, 16, 'perSecond'))
    bench.row('mcp', `${name}, c=16, CPU`, 'us/req', series(runs, name, 16, 'cpuUs'))
  }
  const rate = (name: string) => series(runs, name, 16, 'perSecond')
  bench.hold('mcpSend', ratios(rate('/mcp send'), rate('/mail/send')))
  bench.hold('mcpSdk', ratios(rate('/mcp whoami'), rate('SDK')))
  await Promise.all([mailbox.stop(), sdk?.stop()])
}

async function beginSession(port: number): Promise<void> {
  const line = await asker(port, HTTP)
  const clientInfo = { name: 'bench', version: '1' }
  const params = { protocolVersion: VERSION, capabilities: {}, clientInfo }
  body(await line.ask(post('/mcp', '-', { jsonrpc: '2.0', id: 0, method: 'initialize', params }, ACCEPT)))
  line.close()
}
