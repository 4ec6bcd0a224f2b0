// Starting and stopping: what the first start makes, what refuses a second one, who is answered at the end.
import { expect, test } from 'bun:test'
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startDaemon } from '../../../src/door/daemon.ts'
import { ensureOperator } from '../../../src/door/operator.ts'
import { digestOf } from '../../../src/engine/admin/secret.ts'
import { openStore } from '../../../src/store/open.ts'
import { folder, Office, refusalOf, silent } from './support.ts'

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)

test('the first start makes a folder, a key and a note of where it listens, all private', async () => {
  using place = folder()
  const dataDir = join(place.path, 'new', 'data')
  const options = { dataDir, port: 0, socket: join(dataDir, 'm4a.sock'), recognised: [], log: silent }
  const daemon = await startDaemon(options)
  try {
    expect(daemon.newOperatorKey).toBe(join(dataDir, 'operator.key'))
    expect(mode(dataDir)).toBe('700')
    for (const file of ['operator.key', 'daemon.json', 'mail.sqlite', 'm4a.sock'])
      expect([file, mode(join(dataDir, file))]).toEqual([file, '600'])
    const note = JSON.parse(readFileSync(join(dataDir, 'daemon.json'), 'utf8'))
    expect(note).toMatchObject({ pid: process.pid, port: daemon.port, socket: options.socket })
  } finally {
    await daemon.stop()
  }
  expect(existsSync(join(dataDir, 'daemon.json'))).toBe(false)
  expect(existsSync(options.socket)).toBe(false)

  const again = await startDaemon(options)
  await again.stop()
  expect(again.newOperatorKey).toBeNull()
})

test('a second daemon on the folder is refused, and the first goes on', async () => {
  await using office = await Office.open()
  const options = { dataDir: office.dataDir, port: 0, socket: null, recognised: [], log: silent }
  expect((await refusalOf(startDaemon(options))).kind).toBe('already_running')
  expect(await office.client('operator').health()).toMatchObject({ ok: true })
  expect(existsSync(join(office.dataDir, 'daemon.json'))).toBe(true)
})

test('a port that is taken is named, and nothing is left running', async () => {
  await using office = await Office.open()
  using place = folder()
  const options = { dataDir: place.path, port: office.daemon.port, socket: null, recognised: [], log: silent }
  const refusal = await refusalOf(startDaemon(options))
  expect(refusal.toJSON()).toMatchObject({ kind: 'port_taken', port: office.daemon.port, address: '127.0.0.1' })
  await (await startDaemon({ ...options, port: 0 })).stop() // the lock was given back
})

test('a first start on a port that is taken leaves no folder behind', async () => {
  await using office = await Office.open()
  using place = folder()
  const dataDir = join(place.path, 'new', 'data')
  const options = { dataDir, port: office.daemon.port, socket: join(dataDir, 'm4a.sock'), recognised: [], log: silent }
  expect((await refusalOf(startDaemon(options))).kind).toBe('port_taken')
  expect(readdirSync(place.path)).toEqual([])
})

test('a first start on a port that is free gets it', async () => {
  using place = folder()
  const probe = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('') })
  const port = probe.port ?? 0
  await probe.stop(true)
  const dataDir = join(place.path, 'data')
  const daemon = await startDaemon({ dataDir, port, socket: null, recognised: [], log: silent })
  expect(daemon.port).toBe(port)
  await daemon.stop()
})

test('the process that embeds a mailbox has its own umask again when the last one stops', async () => {
  using first = folder()
  using second = folder()
  const umask = process.umask(0o022)
  try {
    const options = { port: 0, socket: null, recognised: [], log: silent }
    const one = await startDaemon({ ...options, dataDir: first.path })
    const two = await startDaemon({ ...options, dataDir: second.path })
    await one.stop()
    expect(process.umask()).toBe(0o077)
    await two.stop()
    expect(process.umask()).toBe(0o022)
    await refusalOf(startDaemon({ ...options, dataDir: '/' }))
    expect(process.umask()).toBe(0o022)
  } finally {
    process.umask(umask)
  }
})

test('a port that only ::1 has taken is refused too', async () => {
  using place = folder()
  const other = Bun.serve({ hostname: '::1', port: 0, fetch: () => new Response('other') })
  const options = { dataDir: place.path, port: other.port ?? 0, socket: null, recognised: [], log: silent }
  expect((await refusalOf(startDaemon(options))).facts.address).toBe('::1')
  await other.stop(true)
})

test('a folder that others can look into is refused and left as it is', async () => {
  const refusal = await refusalOf(startDaemon({ dataDir: '/', port: 0, socket: null, recognised: [], log: silent }))
  expect(refusal.kind).toBe('bad_permissions')
})

test('the key of a start that crashed before the account existed is used', async () => {
  using place = folder()
  const key = join(place.path, 'operator.key')
  const secret = 'ab'.repeat(32)
  writeFileSync(key, secret, { mode: 0o600 })
  const store = await openStore(':memory:')
  expect(await ensureOperator(store, key)).toBe(true)
  expect(store.registry.accountByDigest(digestOf(secret))?.name).toBe('operator')
  expect(await ensureOperator(store, key)).toBe(false)
  await store.close()
})

test('a key file that others could have read is replaced', async () => {
  using place = folder()
  const key = join(place.path, 'operator.key')
  const secret = 'ab'.repeat(32)
  writeFileSync(key, secret)
  chmodSync(key, 0o644)
  const store = await openStore(':memory:')
  await ensureOperator(store, key)
  expect(store.registry.accountByDigest(digestOf(secret))).toBeUndefined()
  expect(mode(key)).toBe('600')
  await store.close()
})

test('stopping answers who is parked, at both doors, ends streams, and takes less than two seconds', async () => {
  const office = await Office.open('alice')
  const stream = office.client('alice').events()
  const streamed = Array.fromAsync(stream)
  const waits = (['tcp', 'ipv6', 'unix'] as const).map((over) =>
    office.client('alice', over).call('inbox', { wait_secs: 30 }),
  )
  await Bun.sleep(300)
  const began = performance.now()
  await office.daemon.stop()
  expect(performance.now() - began).toBeLessThan(2_000)
  for (const answer of await Promise.all(waits)) expect(answer.messages).toEqual([])
  expect((await streamed).map(({ kind }) => kind)).toEqual(['position'])
  await office[Symbol.asyncDispose]()
})
