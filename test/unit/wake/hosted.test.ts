// A host of many agents with a gateway on loopback: accounts, disabled mirrors, keys that come later, and who is told of whom.
import { expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Hosted } from '../../../src/wake/hosted.ts'
import type { Secrets } from '../../../src/wake/secrets.ts'
import { Refusal } from '../../../src/wire/refusal.ts'
import { World } from '../engine/world.ts'

test('a gateway mirrors each routine once, disabled; a key that is not there yet is asked for again; the others are told', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'm4a-hosted-'))
  const calls: [string, Record<string, unknown>][] = []
  const posts: unknown[] = []
  const keys = new Map<string, string | null>([
    ['a1', 'key-1'],
    ['a2', null],
  ])
  const routines = new Map<string, unknown[]>()
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request, self): Promise<Response> {
      const { pathname } = new URL(request.url)
      const body = (await request.json()) as Record<string, string>
      if (pathname.startsWith('/hook/')) {
        posts.push([pathname, request.headers.get('x-automation-key'), body])
        return new Response()
      }
      if (request.headers.get('authorization') !== 'Bearer gate') return new Response('', { status: 401 })
      const method = pathname.replace('/api/', '')
      calls.push([method, body])
      const agent = body.agentId ?? ''
      if (method === 'getAgentAutomations') return Response.json(routines.get(agent) ?? [])
      if (method === 'createAgentAutomation') routines.set(agent, [...(routines.get(agent) ?? []), body])
      if (method !== 'getAutomationWebhookCredential') return Response.json({})
      return Response.json({ url: `http://127.0.0.1:${self.port}/hook/${agent}`, key: keys.get(agent) })
    },
  })
  for (const [agent, name] of [
    ['a1', 'Первый'],
    ['a2', 'Second'],
  ] as const) {
    mkdirSync(join(folder, 'agents', agent), { recursive: true })
    writeFileSync(join(folder, 'agents', agent, 'profile.json'), JSON.stringify({ name }))
  }
  const gateway = join(folder, 'gateway.json')
  writeFileSync(gateway, JSON.stringify({ port: server.port, scheme: 'http', token: 'gate' }), { mode: 0o600 })
  const world = await World.open()
  Object.assign(world.mail, { dataDir: folder })
  const said: string[] = []
  const hosted = new Hosted(
    world.mail,
    { M4A_AGENTS_DIR: join(folder, 'agents'), M4A_GATEWAY_FILE: gateway },
    (what, facts) => said.push(what, JSON.stringify(facts)),
    { get: () => ({ doors: {}, at: {} }), gateway: () => null },
  )
  await hosted.scan()
  expect(world.store.registry.account('pervyi')?.label).toBe('Первый')
  expect(statSync(join(folder, 'tokens', 'second')).mode & 0o777).toBe(0o600)
  expect(hosted.routine('pervyi')).toMatchObject({ key: 'key-1' })
  expect(hosted.routine('second')).toBeNull()
  const made = () => calls.filter(([method]) => method === 'createAgentAutomation')
  expect(made().map(([, body]) => [body.folder, body.enabled])).toEqual([
    ['pervyi', false],
    ['second', false],
  ])
  keys.set('a2', 'key-2')
  await hosted.scan()
  expect(hosted.routine('second')).toMatchObject({ key: 'key-2' })
  expect(made()).toHaveLength(2)
  expect(posts).toEqual([['/hook/a1', 'key-1', { kind: 'peer_joined', nick: 'second', user_id: 'second' }]])
  await hosted.scan()
  expect(posts).toHaveLength(1)
  expect(said.join()).not.toContain('key-')
  expect(readFileSync(join(folder, 'tokens', 'second'), 'utf8')).not.toBe('')
  hosted.stop()
  await server.stop(true)
  await world.close()
  rmSync(folder, { recursive: true })
})

test('the gateway of the vault goes before its file, and where the vault does not open nobody is asked', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'm4a-hosted-'))
  const asked: (string | null)[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      asked.push(request.headers.get('authorization'))
      return new Response('', { status: 401 })
    },
  })
  mkdirSync(join(folder, 'agents', 'a1'), { recursive: true })
  writeFileSync(join(folder, 'agents', 'a1', 'profile.json'), JSON.stringify({ name: 'First' }))
  const file = join(folder, 'gateway.json')
  writeFileSync(file, JSON.stringify({ port: server.port, token: 'of-the-file' }), { mode: 0o600 })
  const world = await World.open()
  Object.assign(world.mail, { dataDir: folder })
  const said: string[] = []
  let gateway: Secrets['gateway'] = () => null
  const hosted = new Hosted(
    world.mail,
    { M4A_AGENTS_DIR: join(folder, 'agents'), M4A_GATEWAY_FILE: file },
    (what, facts) => said.push(what, JSON.stringify(facts)),
    { get: () => ({ doors: {}, at: {} }), gateway: () => gateway() },
  )
  await hosted.scan()
  gateway = () => ({ port: server.port ?? 0, token: 'of-the-vault' })
  await hosted.scan()
  expect(asked).toEqual(['Bearer of-the-file', 'Bearer of-the-vault'])
  gateway = () => {
    throw new Refusal('vault_key_missing', 'the key file is gone')
  }
  await hosted.scan()
  expect(asked).toHaveLength(2)
  expect(said.at(-1)).toContain('vault_key_missing')
  expect(said.join()).not.toContain('of-the-')
  hosted.stop()
  await server.stop(true)
  await world.close()
  rmSync(folder, { recursive: true })
})
