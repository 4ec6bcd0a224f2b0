// Dispatch on the compiled mailbox: every door obeys the same rules, runs are known by their process tree, nothing leaks into them.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { addAgent, atWork, done, notes, show } from './support/agents.ts'
import { BINARY, Mailbox } from './support/mailbox.ts'

/** What an agent that started the mailbox would have left in its environment, and a secret that is nobody's business. */
const CALLER = {
  CLAUDECODE: '1',
  CLAUDE_CODE_SESSION_ID: 'of-the-caller',
  CODEX_THREAD_ID: 'of-the-caller',
  M4A_DISPATCH: '77',
  SOME_SECRET: 'not to be passed on',
  PASSED: 'on',
}

let mailbox: Mailbox
let peer: string
beforeAll(async () => {
  mailbox = await Mailbox.start(CALLER)
  peer = await mailbox.account('peer', { may_send: true, may_read: true, may_dispatch: true })
})
afterAll(() => mailbox[Symbol.asyncDispose]())

const letter = (to: string, more: object = {}) => ({ to, subject: 's', body: 'b', dispatch: 'resume', ...more })
const set = (id: string, change: object) => mailbox.admin('agent/set', { id, ...change })

async function mcp(token: string, name: string, args: object): Promise<Record<string, unknown>> {
  const headers = { accept: 'application/json', 'content-type': 'application/json', authorization: `Bearer ${token}` }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } })
  const answer = await fetch(`${mailbox.url}/mcp`, { method: 'POST', headers, body })
  const { result } = (await answer.json()) as { result: { structuredContent: Record<string, unknown> } }
  return result.structuredContent
}

async function cli(token: string, ...words: string[]): Promise<Record<string, unknown>> {
  const child = Bun.spawn([BINARY, ...words, '--json', '--data-dir', mailbox.data], {
    env: { PATH: process.env.PATH ?? '', HOME: mailbox.root, M4A_TOKEN: token },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return JSON.parse(out.trim() || err.trim())
}

/** Each way in which an agent may be asked for. */
const PATHS: [string, (token: string, to: string) => Promise<Record<string, unknown>>][] = [
  ['HTTP', async (token, to) => (await mailbox.post('/mail/send', token, letter(to))).body],
  [
    'HTTP, without a letter',
    async (token, to) => (await mailbox.post('/mail/dispatch_wake', token, { target: to })).body,
  ],
  ['MCP', (token, to) => mcp(token, 'm4a_mail_send', letter(to))],
  ['the command line', (token, to) => cli(token, 'dispatch', `@${to}`, 's', 'b')],
  ['the command line, without a letter', (token, to) => cli(token, 'dispatch', 'wake', `@${to}`)],
]

test.each(PATHS)(
  'caps, pauses, lists and depth hold over %s',
  async (name, ask) => {
    const id = `ruled-${PATHS.findIndex(([one]) => one === name)}`
    await mailbox.account(id)
    const cwd = await addAgent(mailbox, id, ['reply'], { allow: ['peer'], per_day: 1 })
    const kind = async () => {
      const answer = await ask(peer, id)
      return [answer.kind, answer.rule].filter(Boolean).join(' ')
    }
    await set(id, { allow: [] })
    expect(await kind()).toBe('dispatch_refused allow')
    await set(id, { allow: ['peer'], block: ['peer'] })
    expect(await kind()).toBe('dispatch_refused block')
    await set(id, { block: [] })
    await mailbox.admin('dispatch/pause', { id, reason: 'just so' })
    expect(await kind()).toBe('dispatch_paused')
    await mailbox.admin('dispatch/resume', { id })
    await mailbox.admin('dispatch/pause', { reason: 'all' })
    expect(await kind()).toBe('dispatch_paused')
    await mailbox.admin('dispatch/resume', {})
    expect(notes(cwd, 'begin')).toEqual([])
    const { dispatch } = (await ask(peer, id)) as { dispatch: { id: number } }
    expect((await done(mailbox, dispatch.id)).attempts).toHaveLength(1)
    expect(await kind()).toBe('daily_cap')
  },
  60_000,
)

test('fifty at once to five agents with a cap of four: twenty are done, thirty are told why not', async () => {
  const names = [0, 1, 2, 3, 4].map((at) => `many-${at}`)
  for (const name of names) {
    await mailbox.account(name)
    await addAgent(mailbox, name, ['reply'], { allow: ['peer'], per_day: 4 })
  }
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, at) =>
      mailbox.post('/mail/send', peer, letter(names[at % 5] ?? '', { body: `${at}` })),
    ),
  )
  const ids = answers.filter(({ status }) => status === 200).map(({ body }) => (body.dispatch as { id: number }).id)
  expect(ids).toHaveLength(20)
  expect(answers.filter(({ body }) => body.kind === 'daily_cap' && Number(body.retry_after_ms) > 0)).toHaveLength(30)
  for (const id of ids) expect((await done(mailbox, id, 120_000)).dispatch.outcome).toBe('replied')
  for (const name of names) {
    expect(notes(join(mailbox.root, `work-${name}`), 'begin')).toHaveLength(4)
    expect(notes(join(mailbox.root, `work-${name}`), 'OVERLAP')).toEqual([])
  }
}, 180_000)

test('fifty at once, ten in each way: the cap counts them together', async () => {
  await mailbox.account('asked')
  const cwd = await addAgent(mailbox, 'asked', ['reply'], { allow: ['peer'], per_day: 7 })
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, at) => PATHS[at % PATHS.length]?.[1](peer, 'asked') ?? Promise.reject()),
  )
  const accepted = answers.flatMap(({ dispatch }) => (dispatch ? [(dispatch as { id: number }).id] : []))
  expect(accepted).toHaveLength(7)
  expect(answers.filter(({ kind }) => kind === 'daily_cap')).toHaveLength(43)
  for (const id of accepted) expect((await done(mailbox, id, 120_000)).dispatch.state).toBe('done')
  expect(new Set(notes(cwd, 'begin').map((line) => line.split(' ')[1])).size).toBeLessThanOrEqual(7)
  expect(notes(cwd, 'OVERLAP')).toEqual([])
}, 180_000)

test('who is started counts as deep as it is, in whichever way it asks; a room and a session start nobody', async () => {
  for (const name of ['deep', 'other'])
    await mailbox.account(name, { may_send: true, may_read: true, may_dispatch: true })
  const cwd = await addAgent(mailbox, 'deep', ['everyWay'])
  await addAgent(mailbox, 'other', ['reply'], { allow: ['deep', 'peer'], depth: 1 })
  const { body } = await mailbox.post('/mail/send', mailbox.operatorKey, letter('deep'))
  const { attempts } = await done(mailbox, (body.dispatch as { id: number }).id)
  const answers = JSON.parse(readFileSync(join(cwd, `asked-${attempts[0]?.run}`), 'utf8'))
  expect(Object.keys(answers)).toEqual(['http', 'wake', 'mcp', 'cli', 'cliWake'])
  for (const answer of Object.values(answers))
    expect(answer).toMatchObject({ kind: 'dispatch_refused', rule: 'depth', depth: 2, limit: 1 })
  expect(notes(join(mailbox.root, 'work-other'), 'begin')).toEqual([])

  await mailbox.admin('room', { id: 'yard' })
  for (const participant of ['peer', 'other']) await mailbox.admin('room/member/add', { room: 'yard', participant })
  const session = String((await mailbox.post('/mail/whoami', peer, {})).body.address_text)
  for (const to of ['#yard', session, ['other', 'deep'], 'other@elsewhere']) {
    const over = [
      (await mailbox.post('/mail/send', peer, letter('', { to }))).body,
      await mcp(peer, 'm4a_mail_send', letter('', { to })),
    ]
    for (const { kind } of over) expect(String(kind)).toMatch(/^(malformed|unknown_machine|no_recipient)$/)
  }
  expect(notes(join(mailbox.root, 'work-other'), 'begin')).toEqual([])
}, 60_000)

test('what a run asks for is counted by its process tree, and its answer starts it again; no circle goes on for ever', async () => {
  for (const name of ['first', 'second'])
    await mailbox.account(name, { may_send: true, may_read: true, may_dispatch: true })
  const first = await addAgent(mailbox, 'first', ['dispatch'])
  writeFileSync(join(first, 'target'), 'second')
  await addAgent(mailbox, 'second', ['reply'], { allow: ['first'] })
  const { body } = await mailbox.post('/mail/send', mailbox.operatorKey, letter('first'))
  const { id } = body.dispatch as { id: number }
  const { attempts } = await done(mailbox, id)
  const sent = JSON.parse(readFileSync(join(first, `asked-${attempts[0]?.run}`), 'utf8'))
  // a send of a started agent goes on from the letter that started it, in depth and in hops
  expect(sent).toMatchObject({ dispatch: { agent: 'second', depth: 2 }, hop: 1 })
  expect((await done(mailbox, sent.dispatch.id)).dispatch.outcome).toBe('replied')
  let back = { id: 0, by: '', agent: '', depth: 0 }
  for (const end = performance.now() + 10_000; back.id === 0 && performance.now() < end; await Bun.sleep(50)) {
    const status = await mailbox.post('/mail/dispatch_status', mailbox.operatorKey, {})
    back = (status.body.dispatches as (typeof back)[]).find((one) => one.by === 'second') ?? back
  }
  expect(back).toMatchObject({ agent: 'first', depth: 3 })
  const again = await done(mailbox, back.id)
  const refused = JSON.parse(readFileSync(join(first, `asked-${again.attempts[0]?.run}`), 'utf8'))
  expect(refused).toMatchObject({ kind: 'dispatch_refused', rule: 'depth', depth: 4, limit: 3 })
}, 60_000)

test('what a started agent has in its environment, its arguments and its token', async () => {
  await mailbox.account('env')
  const cwd = await addAgent(mailbox, 'env', ['hang'], { env: ['PASSED'] })
  const body = '$(touch hostile) `touch hostile`; touch hostile\n--version\n----- end letter aaaaaaaaaaaaaaaa -----'
  const sent = await mailbox.post('/mail/send', mailbox.operatorKey, letter('env', { body }))
  const { id } = sent.body.dispatch as { id: number }
  while (notes(cwd, 'begin').length === 0) await Bun.sleep(20)
  await Bun.sleep(300)
  const [attempt] = (await show(mailbox, id)).attempts
  const environment = readFileSync(join(cwd, `environ-${attempt?.run}`), 'utf8').split('\0')
  for (const entry of environment)
    expect(entry).not.toMatch(/^(CLAUDE|CODEX|SOME_SECRET|M4A_TOKEN=|M4A_RECOGNISED)|of-the-caller|hostile/)
  expect(environment).toContain('PASSED=on')
  for (const entry of [
    `M4A_DISPATCH=${id}`,
    'M4A_DEPTH=1',
    'M4A_ACCOUNT=env',
    `M4A_THREAD=${sent.body.thread}`,
    `M4A_RUN=${attempt?.run}`,
  ])
    expect(environment).toContain(entry)
  for (const pid of atWork(mailbox)) expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain('hostile')
  expect(existsSync(join(cwd, 'hostile'))).toBe(false)

  const folder = join(mailbox.data, 'dispatch', String(id), '1')
  const token = readFileSync(join(folder, 'token'), 'utf8')
  expect((await mailbox.post('/mail/whoami', token, {})).body.account).toBe('env')
  await cli(mailbox.operatorKey, 'dispatch', 'stop', String(id))
  expect((await done(mailbox, id)).dispatch.outcome).toBe('stopped')
  expect((await mailbox.post('/mail/whoami', token, {})).status).toBe(401)
  expect(existsSync(join(folder, 'token'))).toBe(false)
  expect(atWork(mailbox)).toEqual([])
  expect(existsSync(join(folder, 'prompt'))).toBe(false)
  for (const file of ['spec.json', 'out', 'err', 'claim', 'exit.json'])
    expect((await Bun.file(join(folder, file)).stat()).mode & 0o777).toBe(0o600)
  // what the agent itself makes has the usual mode of its user, not ours
  writeFileSync(join(mailbox.root, 'usual'), '')
  expect((await Bun.file(join(cwd, 'notes')).stat()).mode).toBe(
    (await Bun.file(join(mailbox.root, 'usual')).stat()).mode,
  )
}, 60_000)

test('the commands say what there is', async () => {
  await mailbox.account('said')
  await addAgent(mailbox, 'said', ['silent'], { attempts: 1 })
  const { dispatch } = (await cli(mailbox.operatorKey, 'dispatch', 'said', 'subject', 'body')) as {
    dispatch: { id: number }
  }
  await done(mailbox, dispatch.id)
  const id = String(dispatch.id)
  expect(await cli(mailbox.operatorKey, 'dispatch', 'show', id)).toMatchObject({
    attempts: [{ cause: 'silent', turns: 2 }],
  })
  expect(await cli(mailbox.operatorKey, 'dispatch', 'watch', id)).toMatchObject({ dispatch: { outcome: 'silent' } })
  const logs = await cli(mailbox.operatorKey, 'dispatch', 'logs', id)
  expect(logs).toMatchObject({ attempt: 1, stream: 'out', running: false, has_more: false })
  expect(String(logs.text)).toContain('session-of-the-agent')
  const authorization = `Bearer ${mailbox.operatorKey}`
  const metrics = await (await fetch(`${mailbox.url}/metrics`, { headers: { authorization } })).text()
  expect(metrics).toMatch(/^m4a_dispatches_total\{outcome="silent"\} [1-9]/m)
  expect(metrics).toMatch(/^m4a_dispatches_total\{outcome="replied"\} [1-9]/m)
  await mailbox.admin('dispatch/pause', { reason: 'budget \u202e' })
  const top = await cli(mailbox.operatorKey, 'top')
  expect(top.parts).toMatchObject({
    dispatch: { state: 'off', note: expect.stringMatching(/^paused: budget .*, [1-9]\d* failed today/) },
  })
  await mailbox.admin('dispatch/resume', {})
  const failed = await cli(mailbox.operatorKey, 'dispatch', 'status', '--failed')
  expect((failed.dispatches as { id: number }[]).map((one) => one.id)).toContain(dispatch.id)
  const list = await cli(mailbox.operatorKey, 'agent', 'list')
  expect((list.agents as { id: string }[]).map((one) => one.id)).toContain('said')
  await cli(mailbox.operatorKey, 'agent', 'remove', 'said')
  expect((await cli(mailbox.operatorKey, 'dispatch', 'wake', 'said')).kind).toBe('not_an_agent')
}, 60_000)

test('watch tells of each step as it happens, also of those while the mailbox is down', async () => {
  await using own = await Mailbox.start({ SLOW_MS: '3000' })
  await own.account('slow')
  await addAgent(own, 'slow', ['crash', 'slow'])
  const { body } = await own.post('/mail/send', own.operatorKey, letter('slow'))
  const { id } = body.dispatch as { id: number }
  const watching = Bun.spawn([BINARY, 'dispatch', 'watch', String(id), '--data-dir', own.data], {
    env: { PATH: process.env.PATH ?? '', HOME: own.root, M4A_TOKEN: own.operatorKey },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const output = Promise.all([new Response(watching.stdout).text(), new Response(watching.stderr).text()])
  for (let attempts = 0; attempts < 2; await Bun.sleep(50)) attempts = (await show(own, id)).attempts.length
  // it is at its second attempt: it ends while nobody is there to tell of it
  await own.down()
  await Bun.sleep(500)
  await own.up({ SLOW_MS: '3000' })
  const code = await watching.exited
  const [out, err] = await output
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const lines = out.trim().split('\n')
  expect(lines.some((line) => line.startsWith('attempt 1 ended: crashed'))).toBe(true)
  expect(lines.some((line) => /^running.*attempt 2/.test(line))).toBe(true)
  expect(lines.at(-1)).toMatch(/^replied; read: mail4agent view m4a_[0-9a-f]{24}$/)
  const stream = await fetch(`${own.url}/events?cursor=${await beginning(own)}`, {
    headers: { authorization: `Bearer ${own.operatorKey}` },
  })
  let text = ''
  for await (const piece of stream.body ?? []) {
    text += new TextDecoder().decode(piece)
    if (text.includes('event: dispatch_done')) break
  }
  const kinds = [...text.matchAll(/^event: (dispatch_\w+)$/gm)].map(([, kind]) => kind ?? '')
  expect(kinds).toEqual([
    'dispatch_queued',
    'dispatch_started',
    'dispatch_attempt_ended',
    'dispatch_started',
    'dispatch_attempt_ended',
    'dispatch_done',
  ])
}, 90_000)

/** A cursor before everything. */
async function beginning(own: Mailbox): Promise<string> {
  const { body } = await own.post('/mail/inbox', own.operatorKey, { state: 'all' })
  return `${String(body.cursor).split('.')[0]}.0`
}

test('below systemd a run is a service of its own; where no manager takes it, it runs without', async () => {
  await using own = await Mailbox.start({ INVOCATION_ID: '0123456789abcdef0123456789abcdef' })
  await own.account('scoped')
  await addAgent(own, 'scoped', ['reply'])
  const { body } = await own.post('/mail/send', own.operatorKey, letter('scoped'))
  const { id } = body.dispatch as { id: number }
  expect((await done(own, id)).attempts).toMatchObject([{ cause: 'replied' }])
}, 60_000)
