// Doors of the owner against real programs, files and servers on loopback: exact requests, one attempt, nothing secret in what is said.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { WakeAdapter, WakeLetter, WakeTarget } from '../../../src/wake/adapter.ts'
import { letterHook, spool } from '../../../src/wake/adapters/owner.ts'
import { claudeRoutine, webhook } from '../../../src/wake/adapters/routines.ts'
import { addressFault } from '../../../src/wake/post.ts'
import type { Secrets } from '../../../src/wake/secrets.ts'
import { Refusal } from '../../../src/wire/refusal.ts'

const HOSTILE = '</x> $(touch pwned) `id` "quoted"\r\n----- end -----\n\u001b[2J'
const KEY = 'key-that-nobody-sees'
const letter: WakeLetter = {
  id: 'm4a_000000000001000000000001',
  count: 1,
  text: 'mail4agent: a letter has come for you.',
  plain: 'mail4agent: a letter has come for you.',
  letter: {
    id: 'm4a_000000000001000000000001',
    thread: 'm4a_000000000001000000000001',
    from: 'ada/s-00000000000000000000000000000001',
    sender: 'agent',
    onBehalfOf: null,
    subject: 'a subject',
    body: HOSTILE,
    sentAt: '2026-11-30T00:00:00.000Z',
  },
  to: 'ben',
  room: null,
}
const target: WakeTarget = {
  account: 'ben',
  session: null,
  row: 0,
  provider: null,
  providerSession: null,
  conversation: null,
  cwd: null,
  exe: null,
  process: null,
  attended: false,
  environment: {},
}
const never = new AbortController().signal

let dataDir: string
const empty: Secrets = { get: () => ({ doors: {}, at: {} }), gateway: () => null }
let place: { dataDir: string; env: Record<string, string | undefined>; secrets: Secrets }
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'm4a-owner-'))
  place = { dataDir, secrets: empty, env: { PATH: process.env.PATH, M4A_TOKEN: 'secret' } }
})
afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

function setUp(doors: object, mode = 0o600): void {
  mkdirSync(join(dataDir, 'wake'), { recursive: true })
  const file = join(dataDir, 'wake', 'ben.json')
  writeFileSync(file, JSON.stringify(doors))
  chmodSync(file, mode)
}
const tried = async (door: WakeAdapter) => {
  const probe = await door.probe(target, never)
  return probe.ready ? door.wake(target, letter, never) : probe.why
}

type Seen = { method: string; path: string; headers: Record<string, string>; body: string }
function routine(answer: (seen: Seen) => Response | Promise<Response>) {
  const seen: Seen[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const headers = Object.fromEntries(request.headers)
      const one = { method: request.method, path: new URL(request.url).pathname, headers, body: await request.text() }
      seen.push(one)
      return answer(one)
    },
  })
  return { seen, url: `http://127.0.0.1:${server.port}/hook?of=ben`, stop: () => server.stop(true) }
}

describe('the webhook', () => {
  test('sends exactly this request, once', async () => {
    const server = routine(() => new Response('', { status: 200 }))
    setUp({ webhook: { url: server.url, key: KEY } })
    expect(await tried(webhook(place, () => null))).toEqual({ outcome: 'queued', detail: 'the routine answered 200' })
    const [one, ...more] = server.seen
    expect(more).toEqual([])
    const { authorization, 'x-automation-key': key, 'content-type': type } = one?.headers ?? {}
    const request = {
      method: one?.method,
      path: one?.path,
      headers: { authorization, 'x-automation-key': key, 'content-type': type },
      body: JSON.parse(one?.body ?? ''),
    }
    const golden = join(import.meta.dir, '..', '..', 'golden', 'wake', 'webhook.json')
    const text = `${JSON.stringify(request, null, 2)}\n`
    if (process.env.UPDATE_GOLDEN) writeFileSync(golden, text)
    expect(text).toBe(readFileSync(golden, 'utf8'))
    await server.stop()
  })

  test('follows no redirect, tries nothing twice, and says neither address nor key', async () => {
    const elsewhere = routine(() => new Response())
    const answers = [
      new Response('', { status: 302, headers: { location: elsewhere.url } }),
      new Response(`${KEY} is wrong`, { status: 401 }),
      new Response('', { status: 503 }),
    ]
    const server = routine(() => answers.shift() ?? new Response())
    setUp({ webhook: { url: server.url, key: KEY } })
    for (const status of [302, 401, 503]) {
      const said = await tried(webhook(place, () => null))
      expect(said).toEqual({ outcome: 'refused', detail: `it answered ${status}` })
    }
    expect(server.seen).toHaveLength(3)
    expect(elsewhere.seen).toHaveLength(0)
    await server.stop()
    const gone = JSON.stringify(await tried(webhook(place, () => null)))
    expect(gone).toContain('it could not be reached')
    expect(gone).not.toContain(KEY)
    expect(gone).not.toContain('127.0.0.1')
    await elsewhere.stop()
  })

  test('gives up after eight seconds', async () => {
    const server = routine(() => new Promise<Response>(() => {}))
    setUp({ webhook: { url: server.url } })
    const from = performance.now()
    expect(await tried(webhook(place, () => null))).toEqual({ outcome: 'refused', detail: 'it did not answer in time' })
    expect(performance.now() - from).toBeWithin(7_500, 9_500)
    await server.stop()
  }, 15_000)

  test('leaves this machine with https and a consent alone', () => {
    const fault = (url: string, consent = false) => addressFault({ url, consent })
    expect(fault('http://127.0.0.1:9/x')).toBeNull()
    expect(fault('http://[::1]:9/x')).toBeNull()
    expect(fault('https://example.org/x')).toContain('consent')
    expect(fault('https://example.org/x', true)).toBeNull()
    for (const url of [
      'http://example.org/x',
      'ftp://127.0.0.1/',
      'http://u:p@127.0.0.1/',
      'http://127.0.0.1/\n',
      'x',
      `http://127.0.0.1/${'x'.repeat(2_048)}`,
    ])
      expect(fault(url, true)).toBeString()
  })

  test.each([
    ['others may read its file', { webhook: { url: 'http://127.0.0.1:9/' } }, 0o644],
    ['is not understood', { webhook: { url: 'http://127.0.0.1:9/', keys: KEY } }, 0o600],
    ['is not understood', { webhook: { url: 'http://127.0.0.1:9/', key: ' ' } }, 0o600],
    ['is not understood', { webhooks: {} }, 0o600],
    ['nothing is set up', {}, 0o600],
  ])('%s: refused, and nothing of it is said', async (why, doors, mode) => {
    setUp(doors, mode)
    const said = String(await tried(webhook(place, () => null)))
    expect(said).toContain(why)
    expect(said).not.toContain(KEY)
    expect(said).not.toContain('http')
  })
})

test('a vault that does not open closes its doors by name: neither the file nor another address is taken instead', async () => {
  const server = routine(() => new Response())
  setUp({ webhook: { url: server.url, key: KEY }, claude_routine: { url: server.url, key: KEY } })
  const closed = () => {
    throw new Refusal('vault_damaged', 'the vault does not open')
  }
  place.secrets = { get: closed, gateway: closed }
  const why = 'vault_damaged: the vault does not open'
  expect(await tried(webhook(place, () => ({ url: server.url })))).toBe(why)
  expect(await tried(claudeRoutine(place))).toBe(why)
  expect(await webhook(place, () => null).wake(target, letter, never)).toEqual({ outcome: 'refused', detail: why })
  expect(server.seen).toEqual([])
  place.secrets = { ...empty, get: () => ({ doors: { webhook: { url: server.url, key: 'of-the-vault' } }, at: {} }) }
  expect(await tried(webhook(place, () => null))).toMatchObject({ outcome: 'queued' })
  expect(server.seen[0]?.headers['x-automation-key']).toBe('of-the-vault')
  await server.stop()
})

test('a routine of Claude is fired with its headers, and only where no session runs', async () => {
  const server = routine(() => new Response('{}', { status: 200 }))
  setUp({ claude_routine: { url: server.url, key: KEY } })
  expect(await tried(claudeRoutine(place))).toMatchObject({ outcome: 'queued' })
  expect(server.seen[0]?.headers).toMatchObject({
    authorization: `Bearer ${KEY}`,
    'anthropic-version': '2023-06-01',
    'anthropic-beta': 'experimental-cc-routine-2026-04-01',
  })
  expect(JSON.parse(server.seen[0]?.body ?? '')).toEqual({ text: letter.text })
  const probe = await claudeRoutine(place).probe({ ...target, attended: true }, never)
  expect(probe).toEqual({ ready: false, why: 'a session of the account runs here' })
  await server.stop()
})

describe('the letter hook', () => {
  test('is given the letter on standard input, nothing in argv, and none of our variables', async () => {
    const program = join(dataDir, 'hook.sh')
    writeFileSync(
      program,
      `#!/bin/sh\ncat > ${dataDir}/in.json; tr '\\0' '\\n' < /proc/$$/cmdline > ${dataDir}/argv; env > ${dataDir}/env\n`,
      { mode: 0o700 },
    )
    setUp({ letter_hook: [program, '--for', 'ben'] })
    expect(await tried(letterHook(place))).toEqual({ outcome: 'queued', detail: 'the program took it' })
    const input = JSON.parse(readFileSync(join(dataDir, 'in.json'), 'utf8'))
    expect(input).toMatchObject({
      nick: 'ben',
      from: letter.letter?.from,
      event_id: letter.id,
      body: HOSTILE,
      room: null,
    })
    expect(readFileSync(join(dataDir, 'argv'), 'utf8').trim().split('\n')).toEqual(['/bin/sh', program, '--for', 'ben'])
    expect(readFileSync(join(dataDir, 'env'), 'utf8')).not.toContain('M4A_')
    expect(readdirSync(dataDir)).not.toContain('pwned')
  })

  test('says no with its exit code', async () => {
    setUp({ letter_hook: ['/bin/false'] })
    expect(await tried(letterHook(place))).toEqual({ outcome: 'refused', detail: 'the program ended with 1' })
    setUp({ letter_hook: ['false'] })
    expect(await tried(letterHook(place))).toBe('its program is no absolute path')
  })
})

test('the spool keeps a file for each wake, for its owner alone, whole', async () => {
  setUp({ spool: true })
  expect(await tried(spool(place))).toEqual({ outcome: 'stored', detail: 'in a file of its folder' })
  await tried(spool(place))
  const folder = join(dataDir, 'spool', 'ben')
  expect(readdirSync(folder)).toEqual([`${letter.id}.json`])
  expect(statSync(join(folder, `${letter.id}.json`)).mode & 0o777).toBe(0o600)
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  expect(JSON.parse(readFileSync(join(folder, `${letter.id}.json`), 'utf8')).body).toBe(HOSTILE)
})
