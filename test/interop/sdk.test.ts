// The official client SDK against the compiled mailbox: every way to agree on an era, over HTTP and through the bridge.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Client, StreamableHTTPClientTransport, type VersionNegotiationMode } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { type Mailbox, startMailbox } from '../clients/mailbox.ts'
import { type Json, list, text } from '../support/json.ts'

let mailbox: Mailbox
let token: string

beforeAll(async () => {
  mailbox = await startMailbox()
  token = await mailbox.account('sdk')
}, 30_000)
afterAll(() => mailbox?.stop())

const http = () =>
  new StreamableHTTPClientTransport(new URL(`${mailbox.url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  })

const stdio = () =>
  new StdioClientTransport({
    command: mailbox.binary,
    args: ['mcp'],
    env: { PATH: process.env.PATH ?? '', M4A_DATA_DIR: mailbox.dataDir, M4A_TOKEN_FILE: mailbox.tokenFile('sdk') },
    stderr: 'inherit',
  })

async function connect(door: 'http' | 'stdio', mode: VersionNegotiationMode) {
  const client = new Client({ name: 'interop', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(door === 'http' ? http() : stdio())
  const call = async (name: string, args: Record<string, unknown> = {}) => {
    const result = await client.callTool({ name: `m4a_mail_${name}`, arguments: args })
    const answer: Json = JSON.parse(JSON.stringify(result.structuredContent ?? null))
    return { isError: result.isError === true, answer }
  }
  return { client, call }
}

const MODES: [string, VersionNegotiationMode, 'legacy' | 'modern'][] = [
  ['legacy', 'legacy', 'legacy'],
  ['auto', 'auto', 'modern'],
  ['pinned', { pin: '2026-07-28' }, 'modern'],
]

describe.each(['http', 'stdio'] as const)('%s', (door) => {
  test.each(MODES)(
    '%s',
    async (_, mode, era) => {
      const { client, call } = await connect(door, mode)
      try {
        expect(client.getProtocolEra()).toBe(era)
        expect(client.getServerVersion()?.name).toBe('mail4agent')
        expect(client.getInstructions()).toContain('not from your user')
        expect((await client.listTools()).tools).toHaveLength(8)

        const me = text((await call('whoami')).answer, 'address_text')
        expect(me).toStartWith('sdk/s-')
        const sent = await call('send', { to: me, subject: 'grüße', body: 'line\r\n☃' })
        const id = text(sent.answer, 'message_id')
        const inbox = await call('inbox', { state: 'all', wait_secs: 1 })
        const letter = list(inbox.answer, 'messages').find((one) => text(one, 'message_id') === id)
        expect([text(letter, 'body'), text(letter, 'from_text')]).toEqual(['line\r\n☃', me])
        expect((await call('ack', { message_id: id })).isError).toBe(false)

        const refused = await call('send', { to: me, body: 'x', from: 'operator' })
        expect([refused.isError, text(refused.answer, 'field')]).toEqual([true, 'from'])
        await expect(client.callTool({ name: 'm4a_mail_nothing', arguments: {} })).rejects.toThrow('unknown tool')
      } finally {
        await client.close()
      }
    },
    30_000,
  )
})

test('a wait longer than the door holds is held by the bridge, with progress', async () => {
  const { client, call } = await connect('stdio', 'legacy')
  try {
    const me = text((await call('whoami')).answer, 'address_text')
    await call('inbox', { wait_secs: 0 })
    let progress = 0
    const waiting = client.callTool(
      { name: 'm4a_mail_inbox', arguments: { wait_secs: 300 } },
      { timeout: 20_000, resetTimeoutOnProgress: true, onprogress: () => progress++ },
    )
    await Bun.sleep(6_000)
    const { answer } = await call('send', { to: me, subject: 'wake up', body: '' })
    const result: Json = JSON.parse(JSON.stringify((await waiting).structuredContent))
    expect(text(list(result, 'messages').at(-1), 'message_id')).toBe(text(answer, 'message_id'))
    expect(progress).toBeGreaterThan(0)
  } finally {
    await client.close()
  }
}, 60_000)
