// The Windows binary under Wine: who is proved, whose mail is whose, and what cannot be proved is refused by name.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { basicInformation, PARAMETERS, PEB } from '../../src/attest/windows/layout.ts'
import { isOpen, SHAPES } from '../../src/attest/windows/tcp-rows.ts'
import { zip } from '../../src/install/release/archive.ts'
import type { Order } from './support/windows-caller.ts'
import { hasWine, Wine } from './support/wine.ts'

const ROOT = join(import.meta.dir, '..', '..')
const BINARY = join(ROOT, 'dist', 'mail4agent-windows-x64.exe')
const CALLER = join(import.meta.dir, 'support', 'windows-caller.ts')

type Answer = Record<string, any>

let wine: Wine
let data = ''
let port = 0

const stored = (file: string): string => readFileSync(join(data, file), 'utf8').trim()
const operatorKey = (): string => stored('operator.key')

/** A Windows process that calls as it is told; `exe` runs as Bun. */
async function caller(exe = BINARY) {
  let answered = Promise.withResolvers<Answer>()
  let hand: (order: Order) => void = () => {}
  const orders = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const next = new Promise<Order>((resolve) => {
        hand = resolve
      })
      answered.resolve(await request.json())
      return Response.json(await next)
    },
  })
  const child = wine.spawn([exe, 'run', wine.path(CALLER), orders.url.href], { BUN_BE_BUN: '1' })
  void child.exited.then((code) => answered.reject(new Error(`a Windows process ended with ${code}`)))
  const { pid } = await answered.promise
  const say = (order: Order): Promise<Answer> => {
    answered = Promise.withResolvers()
    hand(order)
    return answered.promise
  }
  return {
    pid: Number(pid),
    say,
    call: (token: string, path: string, body: object = {}, host = '127.0.0.1') =>
      say({ do: 'call', host, port, path, token, body }),
    async end() {
      answered.promise.catch(() => {})
      hand({ do: 'end' })
      await child.exited
      await orders.stop(true)
    },
  }
}

/** One command of the Windows binary, as JSON. */
async function m4a(...words: string[]): Promise<Answer> {
  const child = wine.spawn([BINARY, '--json', '--data-dir', wine.path(data), ...words])
  const out = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error(`${words.join(' ')}: ${await child.exited}`)
  return JSON.parse(out)
}

async function account(name: string): Promise<string> {
  await m4a('admin', 'account', 'add', name)
  return stored(`tokens/${name}`)
}

beforeAll(async () => {
  if (!hasWine) return
  wine = await Wine.start()
  const built = Bun.spawnSync(['node', 'src/bun.mjs', 'run', 'build.ts', 'windows-x64'], {
    cwd: ROOT,
    timeout: 300_000,
  })
  if (!built.success) throw new Error(built.stderr.toString())
  data = join(wine.folder, 'data')
  const command = [BINARY, 'serve', '--port', '0', '--data-dir', wine.path(data)]
  const daemon = wine.spawn(command, { M4A_RECOGNISED_AGENTS: 'claude' })
  for (let tries = 0; tries < 600 && !existsSync(join(data, 'daemon.json')); tries++) {
    if (daemon.exitCode !== null) throw new Error(`the mailbox ended with ${daemon.exitCode}`)
    await Bun.sleep(50)
  }
  port = JSON.parse(stored('daemon.json')).port
}, 400_000)

afterAll(async () => {
  await wine?.[Symbol.asyncDispose]()
}, 60_000)

describe.if(hasWine)('on Windows', () => {
  test('the structures are where the headers have them', async () => {
    const child = wine.spawn([wine.compile('windows-layout.c', 'layout.exe')])
    const found = JSON.parse(await new Response(child.stdout).text())
    expect(found.module4).toEqual(SHAPES.module.v4)
    expect(found.module6).toEqual(SHAPES.module.v6)
    expect(found.pid4).toEqual({ ...SHAPES.pid.v4, created: -1 })
    expect(found.pid6).toEqual({ ...SHAPES.pid.v6, created: -1 })
    expect(found.states.every(isOpen)).toBe(true)
    const basic = new DataView(Uint8Array.from(Buffer.from(found.basic, 'hex')).buffer)
    expect(basicInformation(basic)).toEqual({ peb: 0x1122334455667788n, pid: 4242, ppid: 99 })
    expect(found).toMatchObject({ parameters: PEB.parameters, commandLine: PARAMETERS.commandLine })
  }, 60_000)

  test('the mailbox proves itself over 127.0.0.1', async () => {
    const health = await fetch(`http://127.0.0.1:${port}/health`)
    expect(health.status).toBe(200)
    expect(await health.json()).toMatchObject({ ok: true, attestation: { ok: true } })
  }, 60_000)

  test('two processes are two sessions; a letter goes from one to the other and is settled', async () => {
    const [alice, bob] = [await account('alice'), await account('bob')]
    const [one, other, third] = [await caller(), await caller(), await caller()]
    const [a, b, b2] = [
      await one.call(alice, '/mail/whoami'),
      await other.call(bob, '/mail/whoami'),
      await third.call(bob, '/mail/whoami'),
    ]
    expect([a.status, b.status, b2.status]).toEqual([200, 200, 200])
    expect(new Set([a, b, b2].map(({ body }) => body.address_text)).size).toBe(3)
    expect((await one.call(alice, '/mail/whoami')).body.address_text).toBe(a.body.address_text)
    const { attested, corroborated } = a.body.card
    expect(attested).toMatchObject({ pid: one.pid, exe: wine.path(BINARY) })
    expect(Math.abs(attested.started_at_unix_ms - Date.now())).toBeLessThan(120_000)
    expect(corroborated).toMatchObject({ cwd: wine.path(wine.folder), sources: { cwd: 'proc' } })

    const letter = { to: b.body.address_text, subject: 's', body: 'for that session alone' }
    const sent = await one.call(alice, '/mail/send', letter)
    expect(sent.body).toMatchObject({ from_text: a.body.address_text, results: [{ ok: true }] })
    const { message_id } = sent.body
    expect((await third.call(bob, '/mail/inbox')).body.messages).toEqual([])
    expect((await third.call(bob, '/mail/get', { message_id })).body).toMatchObject({ kind: 'unknown_message' })
    const inbox = await other.call(bob, '/mail/inbox')
    expect(inbox.body.messages).toMatchObject([{ message_id, from_text: a.body.address_text, body: letter.body }])
    expect((await other.call(bob, '/mail/ack', { message_id })).body.results).toMatchObject([{ ok: true }])
    const receipts = await one.call(alice, '/mail/receipts', { message_id })
    expect(receipts.body.receipts[0].deliveries).toMatchObject([{ state: 'closed' }])
    for (const process of [one, other, third]) await process.end()
  }, 120_000)

  test('a command in the shell of an agent acts in the session of that agent', async () => {
    await account('claude')
    const exe = join(wine.folder, 'claude.exe')
    copyFileSync(BINARY, exe)
    const agent = await caller(exe)
    const own = await agent.call(stored('tokens/claude'), '/mail/whoami')
    const whoami = ['--json', '--data-dir', wine.path(data), 'whoami']
    const shell = ['cmd', '/c', wine.path(BINARY), ...whoami, '--as', 'claude']
    // Bun hands its own switch on, which would make our binary Bun again
    const ran = await agent.say({ do: 'spawn', command: shell })
    expect(ran).toMatchObject({ code: 0 })
    expect(JSON.parse(ran.out)).toMatchObject({
      address_text: own.body.address_text,
      card: { attested: { pid: agent.pid }, corroborated: { provider: 'claude' } },
    })
    const asPerson = await agent.call(operatorKey(), '/mail/whoami')
    expect(asPerson).toMatchObject({ status: 403, body: { kind: 'agent_ancestor' } })
    await agent.end()
  }, 120_000)

  test('shows the task that would run it, and logs into its folder as a service', async () => {
    const { changes } = await m4a('service', 'install', '--print')
    const [file, create, run] = changes
    expect(file).toMatchObject({ path: wine.path(join(data, 'service.xml')) })
    const words = `--headless ${wine.path(BINARY)} serve --service windows --data-dir ${wine.path(data)}`
    expect(file.text).toContain(`<Command>conhost.exe</Command>\n      <Arguments>${words}</Arguments>`)
    expect(file.text).toMatch(/<LogonTrigger><Enabled>true<\/Enabled><UserId>[^<]+<\/UserId><\/LogonTrigger>/)
    expect(create.what).toMatch(/^schtasks\.exe \/Create \/F \/TN mail4agent-[0-9a-f]{8} \/XML .*service\.xml$/)
    expect(run.what).toMatch(/^schtasks\.exe \/Run \/TN mail4agent-[0-9a-f]{8}$/)

    const own = join(wine.folder, 'as a service')
    const daemon = wine.spawn([BINARY, 'serve', '--service', 'windows', '--port', '0', '--data-dir', wine.path(own)])
    const log = join(own, 'serve.log')
    for (let tries = 0; tries < 400 && !existsSync(log); tries++) await Bun.sleep(50)
    expect(readFileSync(log, 'utf8')).toMatch(/^time=\S+ level=info msg=listening at="?127\.0\.0\.1:\d+/)
    daemon.kill('SIGKILL')
    await daemon.exited
  }, 60_000)

  test('whose process the system does not name is refused', async () => {
    // a process of Linux is none of Wine's
    const stranger = await fetch(`http://127.0.0.1:${port}/mail/whoami`, {
      method: 'POST',
      headers: { authorization: `Bearer ${operatorKey()}`, 'content-type': 'application/json' },
      body: '{}',
    })
    expect(stranger.status).toBe(403)
    expect(await stranger.json()).toMatchObject({ kind: 'no_holder', seen: { pid: 0 } })
    // Wine names no owner of an IPv6 socket
    const process = await caller()
    const overSix = await process.call(operatorKey(), '/mail/whoami', {}, '[::1]')
    expect(overSix).toMatchObject({ status: 403, body: { kind: 'no_holder', seen: { pid: 0 } } })
    await process.end()
  }, 60_000)

  test('a program that runs is replaced from a release archive, and kept', async () => {
    const folder = join(wine.folder, 'upgrade')
    mkdirSync(folder)
    const program = join(folder, 'mail4agent.exe')
    copyFileSync(BINARY, program)
    // the same program with a byte behind its end is another file that runs
    const bytes = Buffer.concat([readFileSync(BINARY), Buffer.alloc(1)])
    writeFileSync(
      join(folder, 'new.zip'),
      zip([{ name: 'mail4agent-0.1.0-windows-x64/mail4agent.exe', bytes, mode: 0o755 }]),
    )
    const words = [
      '--json',
      '--data-dir',
      wine.path(join(folder, 'data')),
      '--port',
      '9', // nobody listens there, whatever else runs on this machine
      'upgrade',
      '--from',
      wine.path(join(folder, 'new.zip')),
    ]
    const child = wine.spawn([program, ...words])
    expect(JSON.parse(await new Response(child.stdout).text())).toMatchObject({ swap: true, restart: 'not running' })
    expect(await child.exited).toBe(0)
    expect(readFileSync(program).length).toBe(bytes.length)
    expect(readFileSync(join(folder, 'mail4agent.previous.exe')).length).toBe(bytes.length - 1)
    // what was set aside can be removed only when its process has ended
    const aside = readdirSync(folder).filter((name) => name.startsWith('.'))
    expect(aside.length).toBeLessThanOrEqual(1)
    for (const name of aside) expect(readFileSync(join(folder, name)).length).toBe(bytes.length - 1)
  }, 60_000)
})
