// A backup is put back: its mail and states are there, what came later is not, and every cursor from before is refused.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmodSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { BINARY, Mailbox } from './support/mailbox.ts'
import { accepted, Wire } from './support/wire.ts'

let mailbox: Mailbox
const tokens: Record<string, string> = {}
beforeAll(async () => {
  mailbox = await Mailbox.start()
  for (const name of ['ann', 'bob']) tokens[name] = await mailbox.account(name)
})
afterAll(() => mailbox[Symbol.asyncDispose]())

async function command(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const child = Bun.spawn([BINARY, ...argv, '--data-dir', mailbox.data, '--json'], {
    env: { PATH: process.env.PATH ?? '', HOME: mailbox.root, M4A_RECOGNISED_AGENTS: '' },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { code: await child.exited, out, err }
}

const call = async (name: string, op: string, request: object) => {
  const wire = await Wire.open(mailbox.port)
  const answer = await wire.post(`/mail/${op}`, tokens[name]!, request)
  wire.cut()
  return answer
}
const ask = (name: string, op: string, request: object) => accepted(call(name, op, request))
const send = async (body: string): Promise<string> =>
  (await ask('ann', 'send', { to: 'bob', subject: `about ${body}`, body, idempotency_key: body.replaceAll(' ', '-') }))
    .message_id

async function events(cursor: string): Promise<{ status: number; text: string }> {
  const leave = new AbortController()
  const response = await fetch(`${mailbox.url}/events?cursor=${cursor}`, {
    headers: { authorization: `Bearer ${tokens.bob}` },
    signal: leave.signal,
  })
  if (response.status !== 200) return { status: response.status, text: await response.text() }
  const reader = response.body!.getReader()
  let text = ''
  const stop = performance.now() + 2_000
  while (!text.includes('event: sent') && performance.now() < stop) {
    const read = await Promise.race([reader.read(), Bun.sleep(500).then(() => null)])
    if (read?.value) text += new TextDecoder().decode(read.value)
  }
  leave.abort()
  return { status: 200, text }
}

test('backup, more mail, restore', async () => {
  const kept = [await send('kept one'), await send('kept two'), await send('kept three')]
  await ask('bob', 'ack', { message_id: kept[0] })
  await ask('bob', 'get', { message_id: kept[1] })
  const early = (await ask('bob', 'inbox', { state: 'all', limit: 1 })).cursor
  const made = await command('admin', 'backup')
  expect(made.code).toBe(0)
  const { path } = JSON.parse(made.out)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(statSync(join(mailbox.data, 'backups')).mode & 0o777).toBe(0o700)

  const lost = [await send('lost one'), await send('lost two')]
  await ask('bob', 'ack', { message_id: kept[2] })
  const cursors = {
    inbox: (await ask('bob', 'inbox', { state: 'all' })).cursor,
    sent: (await ask('ann', 'sent', { limit: 2 })).cursor,
    receipts: (await ask('ann', 'receipts', { limit: 2 })).cursor,
    thread: (await ask('bob', 'thread', { message_id: kept[1] })).cursor,
  }
  for (const cursor of Object.values(cursors)) expect(cursor).toMatch(/^[0-9a-f]{8}\./)
  expect((await events(early)).status).toBe(200)

  // not under the feet of a running mailbox
  const refused = await command('admin', 'restore', path)
  expect({ code: refused.code, kind: JSON.parse(refused.err).kind }).toEqual({ code: 1, kind: 'already_running' })
  expect((await ask('bob', 'get', { message_id: lost[1], peek: true })).body).toBe('lost two')

  await mailbox.down('SIGTERM')
  chmodSync(path, 0o644) // as from a disk that knows no owners
  const restored = await command('admin', 'restore', path)
  expect({ code: restored.code, err: restored.err }).toEqual({ code: 0, err: expect.any(String) })
  const { kept: replaced } = JSON.parse(restored.out)
  expect(statSync(replaced).mode & 0o777).toBe(0o600)
  expect(statSync(join(mailbox.data, 'mail.sqlite')).mode & 0o777).toBe(0o600)
  await mailbox.up()

  const expired = { status: 410, kind: 'cursor_expired' }
  const requests: [name: string, op: string, request: object][] = [
    ['bob', 'inbox', { cursor: cursors.inbox }],
    ['bob', 'inbox', { cursor: early }],
    ['bob', 'inbox', { cursor: cursors.inbox, wait_secs: 5 }],
    ['ann', 'sent', { cursor: cursors.sent }],
    ['ann', 'receipts', { cursor: cursors.receipts }],
    ['bob', 'thread', { message_id: kept[1], cursor: cursors.thread }],
    ['bob', 'search', { query: 'kept', cursor: early }],
  ]
  for (const [name, op, request] of requests) {
    const { status, body } = await call(name, op, request)
    expect({ op, status, kind: body.kind }).toEqual({ op, ...expired })
  }
  for (const cursor of [early, cursors.inbox]) {
    const { status, text } = await events(cursor)
    expect({ status, kind: JSON.parse(text).kind }).toEqual(expired)
  }
  const mcp = { jsonrpc: '2.0', id: 1, method: 'tools/call' }
  const params = { name: 'm4a_mail_inbox', arguments: { cursor: early } }
  const wire = await Wire.open(mailbox.port)
  const answer = await wire.post('/mcp', tokens.bob!, { ...mcp, params }, { 'mcp-protocol-version': '2025-11-25' })
  expect(answer.body.result).toMatchObject({ isError: true, structuredContent: { kind: 'cursor_expired' } })
  wire.cut()

  const page = await ask('bob', 'inbox', { state: 'all' })
  expect(page.messages.map((one: any) => [one.message_id, one.body, one.state])).toEqual([
    [kept[0], 'kept one', 'closed'],
    [kept[1], 'kept two', 'opened'],
    [kept[2], 'kept three', 'new'],
  ])
  for (const message_id of lost) expect((await call('bob', 'get', { message_id })).body.kind).toBe('unknown_message')
  expect((await ask('bob', 'inbox', { cursor: page.cursor })).messages).toEqual([])

  // keys go with the mail: what was lost can be sent again, what was kept is not doubled
  const again = await send('lost one')
  expect(lost).not.toContain(again)
  expect(await send('kept one')).toBe(kept[0]!)
  expect((await ask('bob', 'inbox', { cursor: page.cursor })).messages[0].message_id).toBe(again)

  // the index knows the restored mail and nothing of the lost
  const found = async (query: string) => {
    for (let tries = 0; tries < 100; tries++) {
      const { messages } = await ask('bob', 'search', { query })
      if (messages.length > 0) return messages.map((one: any) => one.message_id)
      await Bun.sleep(20)
    }
    return []
  }
  expect((await found('kept')).sort()).toEqual([...kept].sort())
  expect(await found('lost')).toEqual([again])
}, 60_000)

test('a damaged backup, and one that is none, are refused and leave the store as it is', async () => {
  const id = await send('still here')
  await mailbox.down('SIGTERM')
  const before = readdirSync(mailbox.data).sort()
  const file = join(mailbox.root, 'no-backup')
  await Bun.write(file, 'this is no database, but long enough to be taken for one '.repeat(100))
  const damaged = join(mailbox.root, 'damaged')
  const store = Buffer.from(await Bun.file(join(mailbox.data, 'mail.sqlite')).arrayBuffer())
  store.fill(0x5a, 8_192, Math.min(store.length, 40_000))
  await Bun.write(damaged, store)
  for (const path of [file, damaged]) {
    const { code, err } = await command('admin', 'restore', path)
    expect({ code, kind: JSON.parse(err.split('\n').find((line) => line.startsWith('{')) ?? '{}').kind }).toEqual({
      code: 1,
      kind: 'damaged_store',
    })
  }
  expect(readdirSync(mailbox.data).sort()).toEqual(before)
  await mailbox.up()
  expect((await ask('bob', 'get', { message_id: id, peek: true })).body).toBe('still here')
}, 60_000)
