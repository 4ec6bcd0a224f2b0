// The faults of the prior daemon that its users met, each shown to be mended; numbered as in the list that was made of them.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { sessionName } from '../../src/identity/session-id.ts'
import { Caller, fresh, pair, storedMessages } from './support/caller.ts'
import { copyAs, Parent } from './support/family.ts'
import { BINARY, Mailbox } from './support/mailbox.ts'
import { exchange } from './support/raw.ts'
import { run, words } from './support/script.ts'

setDefaultTimeout(60_000)

/** Longer than the prior client’s time-out of 30 s. */
const LONG_WAIT = 32

let mailbox: Mailbox
let operator: Caller
/** A copy of bun that passes for Claude. */
let claude: string
let longWait: Promise<{ code: number; ms: number; out: string }>

beforeAll(async () => {
  mailbox = await Mailbox.start({ M4A_RECOGNISED_AGENTS: 'claude' })
  operator = Caller.operator(mailbox)
  claude = copyAs(mailbox, 'claude', process.execPath)
  longWait = timed(
    ['inbox', '--wait', String(LONG_WAIT), '--json'],
    (await Caller.make(mailbox, fresh('patient'))).token,
  )
})
afterAll(() => mailbox[Symbol.asyncDispose]())

async function cli(argv: string[], token: string, env: Record<string, string> = {}) {
  const child = Bun.spawn([BINARY, ...argv], {
    env: { PATH: process.env.PATH ?? '', HOME: mailbox.root, M4A_DATA_DIR: mailbox.data, M4A_TOKEN: token, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { code: await child.exited, out, err }
}
async function timed(argv: string[], token: string) {
  const began = performance.now()
  const { code, out } = await cli(argv, token)
  return { code, out, ms: performance.now() - began }
}
const admin = async (route: string, request: object): Promise<Record<string, any>> => {
  const { status, body } = await operator.post(`/admin/${route}`, request)
  return { status, ...body }
}
const idsOf = (answer: Record<string, any>): string[] =>
  answer.messages.map((one: { message_id: string }) => one.message_id)
async function median(work: () => Promise<unknown>, times = 41): Promise<number> {
  const took: number[] = []
  for (let i = 0; i < times; i++) {
    const began = performance.now()
    await work()
    took.push(performance.now() - began)
  }
  return took.sort((a, b) => a - b)[Math.floor(times / 2)] ?? 0
}

describe('identity', () => {
  test('1: who mails from a shell is answered in its own inbox, and a ghost is told of', async () => {
    const { ann, bob } = await pair(mailbox)
    const { parent, reply } = await Parent.start(mailbox, ann.token)
    await using _ = parent
    const body = JSON.stringify({ to: bob.id, subject: 's', body: 'b' })
    parent.spawn(words(mailbox, { token: ann.token, path: '/mail/send', body }))
    const sent = (await parent.lines.next()).body
    const answered = await bob.ask('send', { reply_to: sent.message_id, body: 'answer' })
    expect(answered.results[0]).toMatchObject({ to_text: reply.body.address_text, ok: true })
    parent.spawn(words(mailbox, { token: ann.token, path: '/mail/inbox', body: '{}' }))
    expect(idsOf((await parent.lines.next()).body)).toEqual([answered.message_id])
    await parent[Symbol.asyncDispose]()
    const late = await bob.ask('send', { reply_to: sent.message_id, body: 'too late' })
    expect(late.results[0]).toMatchObject({ to_text: ann.id, warning: expect.stringContaining('has ended') })
    await Bun.sleep(1_100) // that a mailbox is read may be a second old
    const ghost = await bob.ask('send', { to: reply.body.address_text, subject: 's', body: 'to the ghost' })
    expect(ghost.results[0].warning).toContain('has ended')
    const inbox = await (await mailbox.actor(ann.token)).ask('http', 'inbox')
    expect(idsOf(inbox)).toContain(late.message_id)
    expect(inbox.orphaned.letters.map((one: { message_id: string }) => one.message_id)).toContain(ghost.message_id)
  })

  test('2: a resumed agent keeps its session mail, also what is sent to its old address', async () => {
    const { ann, bob } = await pair(mailbox)
    const argv = ['--resume', crypto.randomUUID()]
    const first = await Parent.start(mailbox, bob.token, claude, argv)
    const old = first.reply.body.address_text
    const before = await ann.send(old)
    await first.parent[Symbol.asyncDispose]()
    const second = await Parent.start(mailbox, bob.token, claude, argv)
    await using _ = second.parent
    expect(second.reply.body.address_text).not.toBe(old)
    const after = await ann.send(old)
    expect(after.results[0].to_text).toBe(second.reply.body.address_text)
    second.parent.spawn(words(mailbox, { token: bob.token, path: '/mail/inbox', body: '{}' }))
    expect(idsOf((await second.parent.lines.next()).body)).toEqual([before.message_id, after.message_id])
  })

  test('3: no wall clock is in a session id, and it outlives a restart of the mailbox', async () => {
    await using other = await Mailbox.start()
    const ann = await Caller.make(other, fresh('ann'))
    const { address } = await ann.ask('whoami')
    const store = new Database(join(other.data, 'mail.sqlite'), { readonly: true })
    const row = store.query<{ instance: string }, [string]>('SELECT instance FROM session WHERE name = ?')
    const instance = JSON.parse(row.get(address.session)?.instance ?? '{}')
    store.close()
    const stat = readFileSync('/proc/self/stat', 'utf8')
    expect(instance).toMatchObject({
      boot: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
      pid: process.pid,
      start: stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19],
    })
    expect(readlinkSync('/proc/self/ns/pid')).toContain(instance.pidns)
    expect(Object.keys(instance).sort()).toEqual(['boot', 'pid', 'pidfd', 'pidns', 'start'])
    expect(sessionName(instance, null)).toBe(address.session)
    await other.down()
    await other.up()
    expect((await ann.ask('whoami')).address).toEqual(address)
  })

  test('4: any port, ::1, and a client on a mapped IPv4 address', async () => {
    const { ann } = await pair(mailbox)
    const request = `POST /mail/whoami HTTP/1.1\r\nHost: localhost:${mailbox.port}\r\nAuthorization: Bearer ${ann.token}\r\nContent-Length: 0\r\n\r\n`
    for (const host of ['127.0.0.1', '::1', '::ffff:127.0.0.1'])
      expect([host, (await exchange({ port: mailbox.port, host }, request)).status]).toEqual([host, 200])
  })

  test('5: a long or odd folder or executable locks nobody out', async () => {
    const deep = join(mailbox.root, ...Array.from({ length: 6 }, () => 'd'.repeat(120)))
    const odd = join(mailbox.root, 'line\nbreak\u0001')
    for (const cwd of [deep, odd]) {
      mkdirSync(cwd, { recursive: true })
      const other = await Caller.make(mailbox, fresh('cwd'))
      const { status, body } = await run(mailbox, { token: other.token, path: '/mail/whoami' }, { cwd })
      expect(status).toBe(200)
      const shown: string = body.card.corroborated.cwd
      expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(512)
      expect(shown).not.toMatch(/\p{Cc}/u)
      expect(shown.slice(0, 20)).toBe(cwd.slice(0, 20))
    }
  })

  test('6: words of a prompt are no options, and only a client’s own options are read', async () => {
    const { ann, bob } = await pair(mailbox)
    const id = crypto.randomUUID()
    const argv = ['-p', `do it --model evil --resume ${crypto.randomUUID()}`, '--model=real-1', '--resume', id]
    const call = { token: ann.token, path: '/mail/whoami' }
    const { body } = await run(mailbox, call, { program: claude, argv })
    expect(body.card.corroborated).toMatchObject({ provider: 'claude', model: 'real-1', provider_session_id: id })
    const plain = await run(mailbox, { ...call, token: bob.token }, { argv })
    expect(plain.body.card.corroborated).toMatchObject({ provider: null, model: null, provider_session_id: null })
  })

  test('7: a connection that several processes hold is refused, whichever of them calls', async () => {
    const { ann } = await pair(mailbox)
    const head = `POST /mail/whoami HTTP/1.1\\r\\nHost: localhost\\r\\nAuthorization: Bearer ${ann.token}\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n`
    const script = `exec 3<>/dev/tcp/127.0.0.1/${mailbox.port}; sleep 5 & printf '${head}' >&3; cat <&3; kill $!`
    const child = Bun.spawn(['bash', '-c', script], { stdout: 'pipe' })
    expect(await new Response(child.stdout).text()).toContain('"kind":"shared_connection"')
  })

  test('8: each cause has its name and is 403, so that no MCP client starts to log in', async () => {
    const { ann } = await pair(mailbox)
    const body = '{}'
    const head = `POST /mcp HTTP/1.1\\r\\nHost: localhost\\r\\nAuthorization: Bearer ${ann.token}\\r\\nContent-Type: application/json\\r\\nContent-Length: ${body.length}\\r\\nConnection: close\\r\\n\\r\\n${body}`
    const script = `exec 3<>/dev/tcp/127.0.0.1/${mailbox.port}; sleep 5 & printf '${head}' >&3; cat <&3; kill $!`
    const child = Bun.spawn(['bash', '-c', script], { stdout: 'pipe' })
    const answer = await new Response(child.stdout).text()
    expect(answer).toStartWith('HTTP/1.1 403')
    expect(answer.toLowerCase()).not.toContain('www-authenticate')
    const { status, body: refused } = await run(
      mailbox,
      { token: operator.token, path: '/mail/whoami' },
      { program: claude },
    )
    expect({ status, ...refused }).toMatchObject({ status: 403, kind: 'agent_ancestor', hint: expect.any(String) })
  })

  test('9: one process may use two accounts, and is a session of each', async () => {
    const { ann, bob } = await pair(mailbox)
    for (let twice = 0; twice < 2; twice++)
      for (const by of [ann, bob]) expect((await by.ask('whoami')).account).toBe(by.id)
    const { message_id } = await ann.send(await bob.address())
    expect([await bob.inbox(), await ann.inbox()]).toEqual([[message_id], []])
  })

  test('10: a call costs the same however many files and processes there are', async () => {
    const { ann } = await pair(mailbox)
    const call = () => ann.ask('whoami')
    const few = await median(call)
    const files = Array.from({ length: 1_500 }, () => openSync('/dev/null', 'r'))
    const many = await median(call)
    for (const file of files) closeSync(file)
    expect(many).toBeLessThan(few * 3 + 3)
  })
})

describe('reading', () => {
  test('11: new mail is not hidden behind old, and paging by cursor shows each once', async () => {
    const { ann, bob } = await pair(mailbox)
    const old = await Promise.all(Array.from({ length: 70 }, () => ann.send(bob.id)))
    await bob.ask('ack', { message_ids: old.map(({ message_id }) => message_id) })
    const { message_id } = await ann.send(bob.id)
    expect(await bob.inbox()).toEqual([message_id])
    const seen: string[] = []
    let cursor: string | null = null
    for (let pages = 0; pages < 100; pages++) {
      const page: Record<string, any> = await bob.ask('inbox', { state: 'all', limit: 3, cursor })
      seen.push(...idsOf(page))
      cursor = page.cursor
      if (!page.has_more) break
    }
    const all = [...old.map((one) => one.message_id), message_id].sort()
    expect([seen.length, [...new Set(seen)].sort()]).toEqual([71, all])
  })

  test('12: a wait after the cursor of the last page waits, and ends with what is new alone', async () => {
    const { ann, bob, room } = await pair(mailbox)
    await ann.send(bob.id)
    const { cursor } = await bob.ask('inbox')
    const waiting = bob.ask('inbox', { cursor, wait_secs: 20 })
    await bob.send(`#${room}`)
    expect(await Promise.race([waiting, Bun.sleep(300)])).toBeUndefined()
    const { message_id } = await ann.send(bob.id)
    expect(idsOf(await waiting)).toEqual([message_id])
  })

  test('13: one worker’s ack settles account mail for all, a claim keeps it from them, later ones see no history', async () => {
    const { ann, bob } = await pair(mailbox)
    const [one, two] = [await mailbox.actor(bob.token), await mailbox.actor(bob.token)]
    for (const actor of [one, two]) await actor.ask('http', 'whoami')
    const [done, taken] = [await ann.send(bob.id), await ann.send(bob.id)]
    await one.ask('http', 'ack', { message_id: done.message_id })
    await one.ask('http', 'claim', { message_id: taken.message_id, claim_secs: 60 })
    expect(idsOf(await two.ask('http', 'inbox'))).toEqual([])
    const late = await mailbox.actor(bob.token)
    expect((await late.call({ door: 'http', op: 'ack', request: { message_id: taken.message_id } })).body.kind).toBe(
      'claimed',
    )
    await one.end()
    for (let tries = 0; tries < 50 && idsOf(await late.ask('http', 'inbox')).length === 0; tries++) await Bun.sleep(100)
    expect(idsOf(await late.ask('http', 'inbox'))).toEqual([taken.message_id])
  })

  test('14: everybody may count the mail of the own account', async () => {
    const { ann, bob } = await pair(mailbox)
    await ann.send(bob.id)
    for (const target of [null, bob.id, { kind: 'direct', participant: bob.id }])
      expect((await bob.ask('unread', { target })).unread).toBe(1)
  })

  test('15: an inbox call costs what it cost without history', async () => {
    const { ann, bob } = await pair(mailbox)
    const call = () => bob.ask('inbox', { limit: 1 })
    await ann.send(bob.id)
    const young = await median(call)
    for (let rounds = 0; rounds < 10; rounds++) {
      const sent = await Promise.all(Array.from({ length: 100 }, () => ann.send(bob.id)))
      await bob.ask('ack', { message_ids: sent.map(({ message_id }) => message_id) })
    }
    await Promise.all(Array.from({ length: 300 }, () => ann.send(bob.id)))
    expect((await call()).unread).toBe(301)
    expect(await median(call)).toBeLessThan(young * 3 + 3)
  })

  test('16: CRLF text, and keys that are URLs or times', async () => {
    const { ann, bob } = await pair(mailbox)
    const body = 'one\r\ntwo\r\n'
    const { message_id } = await ann.send(bob.id, { body, idempotency_key: 'ci:build/7@2026-01-01T00:00:00Z' })
    expect((await bob.ask('get', { message_id })).body).toBe(body)
  })

  test('17: a reply needs no address, is checked, and has a thread and a sent list', async () => {
    const { ann, bob } = await pair(mailbox)
    const { message_id } = await ann.send(bob.id, { subject: 'question' })
    const answer = await bob.ask('send', { reply_to: message_id, body: 'answer', close: true })
    expect(answer.results[0].to_text).toBe(await ann.address())
    expect((await ann.ask('get', { message_id: answer.message_id })).subject).toBe('Re: question')
    for (const by of [ann, bob])
      expect(idsOf(await by.ask('thread', { message_id: answer.message_id }))).toEqual([message_id, answer.message_id])
    const { messages } = await ann.ask('sent')
    expect(messages[0]).toMatchObject({ message_id, deliveries: [{ state: 'closed', close_reason: 'replied' }] })
    const absent = `m4a_${'0'.repeat(24)}`
    expect((await bob.refusal('send', { reply_to: absent, body: 'b' })).kind).toBe('unknown_message')
  })
})

describe('sending', () => {
  test('18: a repeat with a key gets the original, also in the same millisecond', async () => {
    const { ann, bob } = await pair(mailbox)
    const sent = await Promise.all(Array.from({ length: 30 }, () => ann.send(bob.id, { idempotency_key: 'k' })))
    expect(new Set(sent.map(({ message_id }) => message_id)).size).toBe(1)
    expect(sent.filter(({ duplicate }) => !duplicate)).toHaveLength(1)
    expect(await bob.inbox()).toHaveLength(1)
  })

  test('19: a key with other content is told, and holds for the whole account', async () => {
    const { ann, bob } = await pair(mailbox)
    const sibling = await mailbox.actor(ann.token)
    await sibling.ask('http', 'whoami')
    const request = { to: bob.id, subject: 's', body: 'b', idempotency_key: 'k' }
    const { message_id } = await sibling.ask('http', 'send', request)
    await sibling.end()
    expect(await ann.ask('send', request)).toMatchObject({ message_id, duplicate: true })
    for (const other of [{ body: 'c' }, { subject: 't' }, { to: ann.id }, { correlation: 'c' }])
      expect(await ann.refusal('send', { ...request, ...other })).toMatchObject({
        status: 409,
        kind: 'idempotency_conflict',
        message_id,
      })
  })

  test('20: mail to an account that is gone is refused, to a session that is gone comes with a warning', async () => {
    const { ann, bob } = await pair(mailbox)
    const gone = await mailbox.actor(bob.token)
    const { address_text } = await gone.ask('http', 'whoami')
    await gone.end()
    const { message_id, results } = await ann.send(address_text)
    expect(results[0]).toMatchObject({ ok: true, warning: expect.stringContaining('has ended') })
    const { receipts } = await ann.ask('receipts', { message_id })
    expect(receipts[0].deliveries[0]).toMatchObject({ state: 'new', session_ended: true })
    await admin('participant/remove', { id: bob.id })
    for (const to of [address_text, bob.id])
      expect((await ann.refusal('send', { to, subject: 's', body: 'b' })).kind).toBe('unknown_participant')
  })

  test('21: only members post to a room', async () => {
    const { bob, room } = await pair(mailbox)
    await admin('room/member/remove', { room, participant: bob.id })
    const refused = await bob.refusal('send', { to: `#${room}`, subject: 's', body: 'b' })
    expect(refused).toMatchObject({ status: 403, kind: 'not_a_member' })
  })
})

describe('operating', () => {
  test('22: nobody else can read the key or the mail', () => {
    expect(statSync(mailbox.data).mode & 0o777).toBe(0o700)
    const files = readdirSync(mailbox.data, { recursive: true, withFileTypes: true }).filter(
      (one) => !one.isDirectory(),
    )
    const open = files.filter(({ parentPath, name }) => (statSync(join(parentPath, name)).mode & 0o077) !== 0)
    expect([files.length > 3, open.map(({ name }) => name)]).toEqual([true, []])
  })

  test('23: a name used again inherits nothing; no removal leaves the mailbox without an operator or a start', async () => {
    await using other = await Mailbox.start()
    const first = Caller.operator(other)
    expect((await first.post('/admin/participant/remove', { id: 'operator' })).body.kind).toBe('last_operator')
    const second = await Caller.make(other, 'second', { operator: true, may_read: true })
    expect((await second.post('/admin/participant/remove', { id: 'operator' })).status).toBe(200)
    await other.down()
    await other.up()
    expect((await first.post('/mail/whoami')).status).toBe(401)
    expect((await second.post('/admin/participant', { id: 'operator' })).status).toBe(200)
    expect((await second.post('/admin/participant/remove', { id: 'second' })).body.kind).toBe('last_operator')
  })

  test('24: a new account can send and read, a typing error is refused, rights can be changed', async () => {
    const { bob } = await pair(mailbox)
    const id = fresh('new')
    expect(await admin('participant', { id, may_raed: true })).toMatchObject({ kind: 'malformed', field: 'may_raed' })
    const made = await Caller.make(mailbox, id)
    await made.send(bob.id)
    expect(await made.inbox()).toEqual([])
    expect(await admin('participant/set', { id, may_send: false, label: 'quiet' })).toMatchObject({
      status: 200,
      may_send: false,
      may_read: true,
      label: 'quiet',
    })
    expect((await made.refusal('send', { to: bob.id, subject: 's', body: 'b' })).kind).toBe('permission_denied')
  })

  test('25: everything can be listed, by command too, and no file of the current folder configures anything', async () => {
    const { ann, bob, room } = await pair(mailbox)
    const listed = JSON.parse((await cli(['admin', 'room', 'list', '--json'], operator.token)).out)
    const found = listed.rooms.find((one: { id: string }) => one.id === room)
    expect(found.members.sort()).toEqual([ann.id, bob.id].sort())
    const accounts = JSON.parse((await cli(['admin', 'account', 'list', '--json'], operator.token)).out).accounts
    expect(accounts.map((one: { id: string }) => one.id)).toContain(ann.id)
    for (const argv of [['--help'], ['serve', '--help'], ['help', 'serve']])
      expect((await cli(argv, '')).out).toContain('mail4agent')
    const folder = join(mailbox.root, 'elsewhere')
    mkdirSync(folder)
    writeFileSync(join(folder, 'mail4agent.toml'), 'bind = "127.0.0.1:1"\ndb_path = "/nowhere"\n')
    const child = Bun.spawn([BINARY, 'whoami', '--json'], {
      cwd: folder,
      env: { PATH: process.env.PATH ?? '', HOME: mailbox.root, M4A_DATA_DIR: mailbox.data, M4A_TOKEN: ann.token },
      stdout: 'pipe',
    })
    expect(JSON.parse(await new Response(child.stdout).text()).account).toBe(ann.id)
  })

  test('26: doorbells are signed, follow no redirect, can be read back, and do not ring for repeats or own posts', async () => {
    const { ann, bob, room } = await pair(mailbox)
    const rings: { body: string; signature: string | null; account: string }[] = []
    let redirected = 0
    const target = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch() {
        redirected++
        return new Response()
      },
    })
    const bell = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        const body = await request.text()
        const signature = [...request.headers].find(([name]) => name.includes('signature'))?.[1] ?? null
        rings.push({ body, signature, account: JSON.parse(body).account })
        return new Response(null, { status: 307, headers: { location: `http://127.0.0.1:${target.port}/` } })
      },
    })
    const { key } = await admin('listener', { account: bob.id, url: `http://127.0.0.1:${bell.port}/` })
    await admin('listener', { account: ann.id, url: `http://127.0.0.1:${bell.port}/` })
    const letter = { to: `#${room}`, subject: 's', body: 'b', idempotency_key: 'k' }
    for (let repeats = 0; repeats < 3; repeats++) await ann.ask('send', letter)
    for (let tries = 0; tries < 50 && rings.length === 0; tries++) await Bun.sleep(50)
    await Bun.sleep(300)
    expect(rings.map(({ account }) => account)).toEqual([bob.id])
    const mac = createHmac('sha256', String(key))
      .update(rings[0]?.body ?? '')
      .digest('hex')
    expect([rings[0]?.signature, redirected]).toEqual([`sha256=${mac}`, 0])
    const { listeners } = await admin('listener/list', {})
    const listed = listeners.find((one: { account: string }) => one.account === bob.id)
    expect(listed).toMatchObject({ url: `http://127.0.0.1:${bell.port}/`, last_error: 'answered 307', last_ok: null })
    for (const account of [ann.id, bob.id]) await admin('listener/remove', { account })
    await Promise.all([bell.stop(true), target.stop(true)])
  })

  test('27: every refusal has one shape, whatever refused', async () => {
    const { ann } = await pair(mailbox)
    const nobody = new Caller(mailbox, '', 'x')
    const refusals = [
      await nobody.post('/mail/inbox', {}),
      await nobody.post('/mcp', {}),
      await ann.post('/admin/room', { id: 'x' }),
      await ann.post('/mail/none', {}),
      await ann.post('/mail/inbox', '{'),
      await ann.post('/mail/inbox', '{}', { 'content-type': 'text/plain' }),
      await ann.post('/mail/inbox', {}, { host: 'evil' }),
      await ann.post('/mail/get', { message_id: `m4a_${'0'.repeat(24)}` }),
      await ann.post('/mail/inbox', { cursor: '00000000.1' }),
    ]
    expect(refusals.map(({ status }) => status)).toEqual([401, 401, 403, 404, 400, 415, 403, 404, 410])
    for (const { body, headers } of refusals) {
      const text = expect.any(String)
      expect(body).toMatchObject({ kind: text, message: text, hint: text })
      expect([headers.get('content-type'), headers.get('x-request-id')]).toEqual(['application/json', text])
    }
  })

  test('28: the directory stays within its budget, live sessions first', async () => {
    const { ann, bob } = await pair(mailbox)
    const declared = { working_on: 'w'.repeat(512), role: 'r'.repeat(512) }
    for (let conversation = 0; conversation < 50; conversation++) {
      const params = { name: 'm4a_mail_status', arguments: declared, _meta: { threadId: `thread-${conversation}` } }
      expect((await ann.rpc({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })).status).toBe(200)
    }
    const gone = await mailbox.actor(bob.token)
    await gone.ask('http', 'whoami')
    await gone.end()
    await bob.ask('whoami')
    const seen = new Map<string, { live: boolean }[]>()
    for (let after: string | null = null, more = true; more; ) {
      const { body, text } = await operator.post('/mail/directory', { after })
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(40_000)
      for (const { id, sessions } of body.participants) seen.set(id, sessions)
      after = body.after
      more = body.has_more
    }
    expect(seen.get(ann.id)?.length).toBeGreaterThan(10)
    expect(seen.get(bob.id)?.map(({ live }) => live)).toEqual([true, false])
  })

  test('29: who writes too often rings nobody, and pages, batches and requests are bounded', async () => {
    const { ann, bob } = await pair(mailbox)
    const sent = []
    for (let i = 0; i < 62; i++) sent.push(await ann.send(bob.id))
    expect(sent.map(({ wake_suppressed }) => wake_suppressed ?? null).slice(-2)).toEqual(['rate', 'rate'])
    expect(sent[0]?.wake_suppressed).toBeUndefined()
    const ids = Array.from({ length: 101 }, () => `m4a_${'0'.repeat(24)}`)
    expect((await bob.refusal('ack', { message_ids: ids })).kind).toBe('too_large')
    const to = Array.from({ length: 101 }, () => bob.id)
    expect((await ann.refusal('send', { to, subject: 's', body: 'b' })).kind).toBe('too_large')
    const batch = Array.from({ length: 51 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }))
    expect((await ann.rpc(batch)).body.error.code).toBe(-32600)
  })
})

describe('MCP and time-outs', () => {
  test('30: schemas say what is accepted, both doors answer alike, errors have their codes', async () => {
    const { ann, bob } = await pair(mailbox)
    const { tools } = (await ann.rpc({ jsonrpc: '2.0', id: 1, method: 'tools/list' })).body.result
    const schema = (name: string) =>
      tools.find((one: { name: string }) => one.name === `m4a_mail_${name}`).inputSchema.properties
    expect(JSON.stringify(schema('send').to)).toContain('"string"')
    expect((await bob.tool('inbox', { limit: null })).isError).toBe(false)
    expect(JSON.stringify(schema('inbox').wait_secs)).not.toContain('"maximum":60')
    const { message_id } = await ann.send(bob.id)
    const over = (await bob.tool('ack', { message_id })).content
    const http = await bob.ask('ack', { message_id })
    expect(Object.keys(over).sort()).toEqual(Object.keys(http).sort())
    expect(over.ack).toEqual(http.ack)
    expect((await ann.rpc({ jsonrpc: '2.0', id: null, method: 'ping' })).body.error.code).toBe(-32600)
    expect((await ann.rpc({})).body.error.code).toBe(-32600)
    expect((await ann.rpc({ jsonrpc: '2.0', method: 'notifications/x' })).status).toBe(202)
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
    expect((await ann.rpc(ping, { origin: 'http://evil' })).body.kind).toBe('bad_origin')
    const wait = (id: number) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'm4a_mail_inbox', arguments: { wait_secs: 2, state: 'new' } },
    })
    const began = performance.now()
    expect(JSON.parse((await bob.rpc([wait(1), wait(2), wait(3)])).text)).toHaveLength(3)
    expect(performance.now() - began).toBeLessThan(5_000)
  })

  test('31: our client waits longer than the door does, and a stop answers who is parked', async () => {
    await using other = await Mailbox.start()
    const ann = await Caller.make(other, fresh('ann'))
    const parked = Promise.all(Array.from({ length: 5 }, () => ann.post('/mail/inbox', { wait_secs: 60 })))
    await Bun.sleep(500)
    const { code, ms } = await other.down()
    expect([code, ms < 2_500]).toEqual([0, true])
    for (const { status, body } of await parked)
      expect(status === 200 ? body.messages : body.kind).toEqual(status === 200 ? [] : 'shutting_down')
    const waited = await longWait
    expect([waited.code, JSON.parse(waited.out).messages, waited.ms >= LONG_WAIT * 1_000]).toEqual([0, [], true])
  })
})

test('none of this has cost a letter: the store still counts', async () => {
  expect(await storedMessages(mailbox)).toBeGreaterThan(1_000)
})
