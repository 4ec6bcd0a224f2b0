// A backup is put back: its mail and states are there, what came later is not, and every cursor from before is refused.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
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

test('after a kill -9 the store that was replaced is kept whole, with what was only in its log', async () => {
  const made = await command('admin', 'backup')
  const { path } = JSON.parse(made.out)
  const bodies: string[] = []
  for (let index = 0; index < 50; index++) {
    bodies.push(`in the log ${index}`)
    await send(`in the log ${index}`)
  }
  await mailbox.down('SIGKILL')
  expect(statSync(join(mailbox.data, 'mail.sqlite-wal')).size).toBeGreaterThan(0)
  const { code, out } = await command('admin', 'restore', path)
  expect(code).toBe(0)
  const kept = new Database(JSON.parse(out).kept, { readwrite: true })
  expect(kept.query('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
  const found = kept
    .query<{ json: string }, []>('SELECT json FROM message')
    .all()
    .map(({ json }) => JSON.parse(`{${json}}`).body)
  kept.close()
  expect(found).toEqual(expect.arrayContaining(bodies))
  await mailbox.up()
  expect((await call('bob', 'search', { query: 'log' })).body.messages).toEqual([])
  // and the kept one can be put back
  await mailbox.down('SIGTERM')
  expect((await command('admin', 'restore', JSON.parse(out).kept)).code).toBe(0)
  await mailbox.up()
  const wire = await Wire.open(mailbox.port)
  const page = await accepted(wire.post('/mail/inbox', tokens.bob!, { limit: 256, max_bytes: 1_000_000 }))
  wire.cut()
  expect(page.messages.map((one: { body: string }) => one.body)).toEqual(expect.arrayContaining(bodies))
}, 60_000)

test('a folder, or nothing at all, is no backup', async () => {
  await mailbox.down('SIGTERM')
  for (const path of [mailbox.root, join(mailbox.root, 'nothing')]) {
    const { code, err } = await command('admin', 'restore', path)
    expect({ path, code, kind: /"kind":"(\w+)"/.exec(err)?.[1] }).toEqual({ path, code: 2, kind: 'usage' })
  }
  await mailbox.up()
}, 20_000)

describe('a backup of a store of some size', () => {
  let size = 0
  beforeAll(async () => {
    const wires = await Wire.many(mailbox.port, 8)
    const body = 'x'.repeat(65_000)
    const fill = async (wire: Wire) => {
      for (let index = 0; index < 250; index++)
        await accepted(wire.post('/mail/send', tokens.ann!, { to: 'bob', subject: 's', body }))
      wire.cut()
    }
    await Promise.all(wires.map(fill))
  }, 60_000)

  test('does not hold up those who send meanwhile; each of its letters is whole', async () => {
    const wire = await Wire.open(mailbox.port)
    let copying = true
    let worst = 0
    let sends = 0
    const last = await send('before the copy')
    const meanwhile = (async () => {
      while (copying) {
        const began = performance.now()
        await accepted(wire.post('/mail/send', tokens.ann!, { to: 'bob', subject: 's', body: 'meanwhile' }))
        worst = Math.max(worst, performance.now() - began)
        sends++
      }
    })()
    const began = performance.now()
    const { path, bytes } = (await mailbox.admin('backup', {})) as { path: string; bytes: number }
    const took = performance.now() - began
    copying = false
    await meanwhile
    size = bytes
    console.log(
      `a copy of ${bytes} bytes took ${took.toFixed(0)} ms, ${sends} sends meanwhile, the slowest ${worst.toFixed(0)} ms`,
    )
    expect(bytes).toBeGreaterThan(100_000_000)
    expect(sends).toBeGreaterThan(5)
    expect(worst).toBeLessThan(took / 2)
    const copy = new Database(path, { readonly: true })
    expect(copy.query('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
    const sequence = Number.parseInt(last.slice(4, 16), 16)
    expect(copy.query('SELECT id FROM message WHERE id = ?').all(sequence)).toHaveLength(1)
    copy.close()
    wire.cut()
  }, 60_000)

  test('two at once under one name: one is there, the other is refused', async () => {
    const tries = await Promise.all(
      [1, 2].map(() => mailbox.post('/admin/backup', mailbox.operatorKey, { name: 'twice' })),
    )
    expect(tries.map(({ status }) => status).sort()).toEqual([200, 409])
    expect(statSync(join(mailbox.data, 'backups', 'twice')).size).toBeGreaterThanOrEqual(size)
  }, 60_000)

  test('that is cut off by a kill or a stop leaves no file under its name, and no other for long', async () => {
    const folder = join(mailbox.data, 'backups')
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      const name = `cut-${signal}`
      const before = readdirSync(folder).filter((one) => !one.startsWith('.'))
      const asked = mailbox.post('/admin/backup', mailbox.operatorKey, { name }).catch(() => null)
      for (let tries = 0; tries < 200 && !readdirSync(folder).some((one) => one.startsWith('.')); tries++)
        await Bun.sleep(2)
      const { ms } = await mailbox.down(signal)
      expect(ms).toBeLessThan(2_000)
      const answer = await asked
      if (answer?.status !== 200) expect(readdirSync(folder).filter((one) => !one.startsWith('.'))).toEqual(before)
      await mailbox.up()
      await mailbox.admin('backup', { name: `after-${signal}` })
      expect(readdirSync(folder).filter((one) => one.startsWith('.'))).toEqual([])
    }
  }, 60_000)
})
