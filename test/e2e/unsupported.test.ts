// A build for a platform without attestation: /health answers and says why, every other call is refused by name.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const SRC = join(import.meta.dir, '..', '..', 'src')
const ENTRIES = ['main.ts', 'store/writer-worker.ts', 'store/housekeeper-worker.ts', 'attest/scan-worker.ts']
/** The program is the released one; only attestation takes the platform for one that nobody has written an attestor for. */
const elsewhere: Bun.BunPlugin = {
  name: 'elsewhere',
  setup(build) {
    build.onLoad({ filter: /src\/attest\/(?:attestor|none)\.ts$/ }, async ({ path }) => ({
      contents: (await Bun.file(path).text()).replaceAll('process.platform', "'plan9'"),
      loader: 'ts',
    }))
  },
}

const folder = mkdtempSync(join(tmpdir(), 'm4a-none-'))
const data = join(folder, 'data')
const binary = join(folder, 'mail4agent')
const env = { PATH: process.env.PATH ?? '', HOME: folder }

let daemon: Bun.Subprocess
let facts: { port: number; socket: string }

beforeAll(async () => {
  const built = await Bun.build({
    entrypoints: ENTRIES.map((entry) => join(SRC, entry)),
    root: SRC,
    target: 'bun',
    format: 'esm',
    splitting: true,
    naming: { entry: '[name].[ext]' },
    compile: { outfile: binary, autoloadBunfig: false, autoloadDotenv: false },
    plugins: [elsewhere],
  })
  expect(built.success).toBe(true)
  daemon = Bun.spawn([binary, 'serve', '--port', '0', '--data-dir', data], {
    env,
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  for (let tries = 0; tries < 500 && !existsSync(join(data, 'daemon.json')); tries++) await Bun.sleep(20)
  facts = JSON.parse(readFileSync(join(data, 'daemon.json'), 'utf8'))
}, 120_000)

afterAll(async () => {
  daemon?.kill('SIGTERM')
  await daemon?.exited
  rmSync(folder, { recursive: true, force: true })
})

const key = () => readFileSync(join(data, 'operator.key'), 'utf8').trim()
const headers = () => ({ authorization: `Bearer ${key()}`, 'content-type': 'application/json' })
const unsupported = { kind: 'unsupported_platform', seen: { platform: 'plan9', reason: 'no attestation on plan9' } }

test('/health answers, and says why nothing else does', async () => {
  const answer = await fetch(`http://127.0.0.1:${facts.port}/health`)
  expect(answer.status).toBe(503)
  expect(await answer.json()).toMatchObject({
    ok: false,
    attestation: { ok: false, reason: expect.stringContaining('plan9') },
  })
})

test.each(['send', 'inbox', 'get', 'ack', 'whoami', 'status', 'directory', 'unread', 'search'])(
  '/mail/%s is refused by name',
  async (operation) => {
    const url = `http://127.0.0.1:${facts.port}/mail/${operation}`
    const answer = await fetch(url, { method: 'POST', headers: headers(), body: '{}' })
    expect(answer.status).toBe(403)
    expect(await answer.json()).toMatchObject(unsupported)
  },
)

test('so are /admin, /metrics, /events and the documentation', async () => {
  const at = `http://127.0.0.1:${facts.port}`
  const posted = await fetch(`${at}/admin/participant/list`, { method: 'POST', headers: headers(), body: '{}' })
  const rest = await Promise.all(
    ['/metrics', '/events', '/openapi.json'].map((path) => fetch(at + path, { headers: headers() })),
  )
  for (const answer of [posted, ...rest]) {
    expect(answer.status).toBe(403)
    expect(await answer.json()).toMatchObject(unsupported)
  }
})

test.each(['initialize', 'tools/list', 'tools/call', 'ping'])('so is MCP %s', async (method) => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { name: 'm4a_mail_whoami', arguments: {} } })
  const answer = await fetch(`http://127.0.0.1:${facts.port}/mcp`, { method: 'POST', headers: headers(), body })
  expect(answer.status).toBe(403)
  expect(await answer.json()).toMatchObject(unsupported)
})

test('so is the command line, over the Unix socket too', () => {
  const ran = Bun.spawnSync([binary, '--json', '--data-dir', data, 'whoami'], { env })
  expect(ran.exitCode).toBe(1)
  expect(`${ran.stdout}${ran.stderr}`).toContain('unsupported_platform')
})
