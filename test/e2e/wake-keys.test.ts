// Address and key of a webhook in the vault: they reach the routine in both headers, and lie nowhere in clear: files, logs, argv, answers.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BINARY, Mailbox } from './support/mailbox.ts'

const KEY = 'k3y-that-n0body-sees'
const PATH = 'address-that-nobody-sees'

let mailbox: Mailbox
let seen: { path: string; headers: Headers }[]
let server: Bun.Server<undefined>
const said: string[] = []
const argv: string[] = []

beforeEach(async () => {
  seen = []
  said.length = argv.length = 0
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      seen.push({ path: new URL(request.url).pathname, headers: request.headers })
      return new Response()
    },
  })
  mailbox = await Mailbox.start()
  await mailbox.account('ben')
})
afterEach(async () => {
  await server.stop(true)
  await mailbox[Symbol.asyncDispose]()
})

/** The command line on this mailbox; the arguments that the kernel shows are read while it waits for its input. */
async function cli(words: string[], input = '', env: Record<string, string> = {}) {
  const place = ['--data-dir', mailbox.data, '--port', String(mailbox.port)]
  const child = Bun.spawn([BINARY, ...words, ...place], {
    env: { PATH: process.env.PATH ?? '', HOME: mailbox.root, ...env },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  argv.push(cmdline(child.pid))
  child.stdin.write(input)
  await child.stdin.end()
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  said.push(out, err)
  return { code, out, err }
}

/** Nothing where the process has ended already. */
function cmdline(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

type Status = {
  state: string | null
  source: string | null
  keys: { door: string; source: string; state: string; at: string | null }[]
  wakes: { tried: { door: string; outcome: string | null; detail: string }[] }[]
}
async function status(): Promise<Status> {
  const { body } = await mailbox.post('/admin/wake/status', mailbox.operatorKey, { account: 'ben' })
  said.push(JSON.stringify(body))
  return (body.wakes as Status[])[0]!
}
const letter = (subject: string) => mailbox.post('/mail/send', mailbox.operatorKey, { to: 'ben', subject, body: 'b' })

async function until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  for (const end = performance.now() + 60_000; !(await holds()); await Bun.sleep(50))
    if (performance.now() > end) throw new Error(`${what}: not within a minute`)
}

function files(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? files(path) : entry.isFile() ? [path] : []
  })
}

function nothingInClear(): void {
  for (const needle of [KEY, PATH, Buffer.from(KEY).toString('base64').slice(0, 20)]) {
    // data folder, and beside it what the mailbox said on stdout and stderr
    for (const path of files(mailbox.root))
      expect([path, readFileSync(path, 'latin1').includes(needle)]).toEqual([path, false])
    expect(said.filter((text) => text.includes(needle))).toEqual([])
    expect(argv.filter((text) => text.includes(needle))).toEqual([])
    expect(cmdline(mailbox.daemon.pid)).not.toContain(needle)
  }
}

test('a key goes from standard input into the vault, and from there to the routine alone', async () => {
  const doors = JSON.stringify({ webhook: { url: `http://127.0.0.1:${server.port}/${PATH}`, key: KEY } })
  const imported = await cli(['wake', 'import', 'ben'], doors)
  expect(imported).toMatchObject({ code: 0, err: '' })
  expect(argv[0]).toContain('import\0ben')
  expect(imported.out).toMatch(/routine-webhook\tvault\t.+\tready/)
  expect((await status()).keys).toEqual([
    { door: 'routine-webhook', source: 'vault', state: 'ready', at: expect.any(String) },
  ])
  await letter('one')
  await until('the routine is called', () => seen.length > 0)
  expect(seen[0]?.path).toBe(`/${PATH}`)
  expect(seen[0]?.headers.get('authorization')).toBe(`Bearer ${KEY}`)
  expect(seen[0]?.headers.get('x-automation-key')).toBe(KEY)
  await until('the wake is written down', async () => (await status()).source === 'routine-webhook')
  for (const words of [
    ['wake', 'status', 'ben'],
    ['wake', 'plan', 'ben', '--json'],
    ['vault', 'status', '--doors'],
  ])
    expect((await cli(words)).code).toBe(0)
  nothingInClear()

  // a new start opens it too; then the vault is damaged under it: the door says so by name, and the next one is taken
  await mailbox.down()
  await mailbox.up()
  expect((await status()).keys[0]?.state).toBe('ready')
  writeFileSync(join(mailbox.data, 'wake', 'ben.json'), JSON.stringify({ spool: true }), { mode: 0o600 })
  const vault = join(mailbox.data, 'wake', 'vault', 'vault.json')
  const whole = readFileSync(vault, 'utf8')
  writeFileSync(vault, whole.replace('"generation":1', '"generation":2'))
  expect((await status()).keys[0]).toMatchObject({
    source: 'vault',
    at: null,
    state: expect.stringContaining('vault_damaged'),
  })
  const refused = await cli(['wake', 'import', 'ben'], doors)
  expect(refused.code).not.toBe(0)
  expect(refused.err).toContain('wake/vault away')
  await letter('two')
  await until('the spool is taken', async () => (await status()).source === 'spool')
  const tried = (await status()).wakes[0]?.tried ?? []
  expect(tried).toContainEqual(
    expect.objectContaining({
      door: 'routine-webhook',
      outcome: null,
      detail: expect.stringContaining('vault_damaged'),
    }),
  )
  expect(seen).toHaveLength(1)

  // the key changes hands under the running mailbox, which has no such variable; and back
  writeFileSync(vault, whole)
  expect((await status()).keys[0]?.state).toBe('ready')
  const variable = { DOORS_VAULT: 'a secret that is long enough' }
  const moved = await cli(['vault', 'move', 'env', '--doors', '--variable', 'DOORS_VAULT'], '', variable)
  expect(moved).toMatchObject({ code: 0, out: 'the key is held by: env\n' })
  expect((await status()).keys[0]?.state).toContain('vault_key_missing')
  expect((await cli(['vault', 'move', 'file', '--doors'], '', variable)).code).toBe(0)
  expect((await status()).keys[0]?.state).toBe('ready')
  const gateway = await cli(['wake', 'import', '--gateway'], JSON.stringify({ port: 9, token: KEY }))
  expect(gateway).toMatchObject({ code: 0, out: 'the gateway is in the vault\n' })
  expect((await cli(['vault', 'status', '--doors', '--json'])).out).toContain('["/gateway","ben/webhook"]')
  expect((await cli(['wake', 'forget', 'ben'])).out).toBe('forgotten\n')
  expect((await status()).keys).toEqual([])
  nothingInClear()
}, 240_000)

test('a file that others may read, a wrong account and what is no door are refused, and say nothing of it', async () => {
  const text = JSON.stringify({ webhook: { url: `http://127.0.0.1:9/${PATH}`, key: KEY } })
  const open = join(mailbox.root, '..', `m4a-open-${process.pid}-${mailbox.port}.json`)
  writeFileSync(open, text, { mode: 0o644 })
  try {
    expect((await cli(['wake', 'import', 'ben', open])).err).toContain('is open to other users')
  } finally {
    await Bun.file(open).delete()
  }
  expect((await cli(['wake', 'import', 'nobody'], text)).code).not.toBe(0)
  for (const bad of [
    `{"webhook": "${KEY}"`,
    `"${KEY}"`,
    `{"spool": true}`,
    `{"webhook": {"url": "ftp://x/${PATH}", "key": "${KEY}"}}`,
  ])
    expect((await cli(['wake', 'import', 'ben', '-'], bad)).code).toBe(2)
  expect((await status()).keys).toEqual([])
  expect(existsSync(join(mailbox.data, 'wake'))).toBe(false)
  nothingInClear()
}, 120_000)
