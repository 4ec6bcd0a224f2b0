// Rooms, doorbells, orphaned mail and backups, as the operator handles them.
import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, statSync } from 'node:fs'
import { administer } from '../../../../src/engine/admin/admin.ts'
import { checkListenerUrl } from '../../../../src/engine/admin/listeners.ts'
import { openStore } from '../../../../src/store/open.ts'
import { addAccount, addSession, post, shown, toSession } from '../../../support/population.ts'
import { tempFolder } from '../../../support/temp.ts'
import { OWN_PORT, openOffice, refusal } from './office.ts'

let office: Awaited<ReturnType<typeof openOffice>>
beforeEach(async () => {
  office = await openOffice()
})
afterEach(() => office.close())

test('rooms are made, joined, left and removed', async () => {
  await office.run('participant', { id: 'claude' })
  await office.run('room', { id: 'Build', label: 'the build' })
  expect(await refusal(office.run('room', { id: 'build' }))).toMatchObject({ kind: 'name_taken' })
  for (let twice = 0; twice < 2; twice++)
    expect(await office.run('room/member/add', { room: 'build', participant: 'CLAUDE' })).toEqual({})
  expect((await office.run('room/list', {})).rooms).toMatchObject([
    { id: 'Build', label: 'the build', members: ['claude'] },
  ])
  for (let twice = 0; twice < 2; twice++)
    expect(await office.run('room/member/remove', { room: 'build', participant: 'claude' })).toEqual({})
  expect(await office.run('room/member/remove', { room: 'build', participant: 'nobody' })).toEqual({})
  await office.run('room/remove', { id: 'build' })
  expect((await office.run('room/list', {})).rooms).toEqual([])
})

test('an unknown room is named before an unknown account', async () => {
  const both = { room: 'nowhere', participant: 'nobody' }
  expect(await refusal(office.run('room/member/add', both))).toMatchObject({ kind: 'unknown_room' })
  await office.run('room', { id: 'build' })
  expect(await refusal(office.run('room/member/add', { ...both, room: 'build' }))).toMatchObject({
    kind: 'unknown_participant',
  })
  expect(await refusal(office.run('room/remove', { id: 'nowhere' }))).toMatchObject({ kind: 'unknown_room' })
})

test('a doorbell URL is loopback by its spelling', () => {
  for (const [url, port] of [
    ['http://127.0.0.1:8080', 8080],
    ['http://127.0.0.1:8080/ring?who=a%20b#x', 8080],
    ['http://localhost:1/', 1],
    ['http://LocalHost:65535/a@b', 65_535],
    ['http://127.0.0.1/', 80],
  ] as const)
    expect(checkListenerUrl(url, OWN_PORT)).toBe(port)
  for (const url of [
    'https://127.0.0.1:8080/',
    'HTTP://127.0.0.1:8080/',
    'http://127.0.0.1:8080@evil.example/',
    'http://127.0.0.1@evil.example:80/',
    'http://user@127.0.0.1:8080/',
    'http://127.0.0.1:8080\\@evil.example/',
    'http://127.0.0.1.evil.example:8080/',
    'http://localhost.evil.example/',
    'http://127.1:8080/',
    'http://0x7f.0.0.1:8080/',
    'http://2130706433:8080/',
    'http://127.0.0.2:8080/',
    'http://0.0.0.0:8080/',
    'http://[::1]:8080/',
    'http://[::ffff:127.0.0.1]:8080/',
    'http://localhost.:8080/',
    'http://ⓛocalhost:8080/',
    'http://127.0.0.1:0/',
    'http://127.0.0.1:65536/',
    'http://127.0.0.1:99999/',
    'http://127.0.0.1:/',
    'http://127.0.0.1:8080/a b',
    'http://127.0.0.1:8080/\n',
    ' http://127.0.0.1:8080/',
    `http://127.0.0.1:${OWN_PORT}/mail/send`,
    `http://localhost:0${OWN_PORT}/`,
    `http://127.0.0.1:8080/${'x'.repeat(500)}`,
    'file:///etc/passwd',
    '',
  ])
    expect(() => checkListenerUrl(url, OWN_PORT)).toThrow(/^url/)
})

test('a doorbell has a key that is shown once, and a new one each time', async () => {
  await office.run('participant', { id: 'claude' })
  const request = { account: 'claude', url: 'http://127.0.0.1:8080/ring' }
  const first = await office.run('listener', request)
  expect(first.key).toMatch(/^[0-9a-f]{64}$/)
  expect((await office.run('listener', { ...request, coalesce: true })).key).not.toBe(first.key)
  const list = await office.run('listener/list', {})
  expect(list.listeners).toEqual([
    {
      account: 'claude',
      url: request.url,
      coalesce: true,
      pending: 2,
      last_ok: null,
      last_error: 'connection refused',
      last_error_at: '1970-01-01T00:00:00.000Z',
    },
  ])
  expect((await office.run('participant/list', {})).accounts[0]?.listener).toBe(request.url)
  for (let twice = 0; twice < 2; twice++) expect(await office.run('listener/remove', { account: 'claude' })).toEqual({})
  expect((await office.run('listener/list', {})).listeners).toEqual([])
  expect(await refusal(office.run('listener', { ...request, account: 'nobody' }))).toMatchObject({
    kind: 'unknown_participant',
  })
})

test('mail of an ended session is listed, and released to its account', async () => {
  const { store, operator, gone } = office
  const claude = await addAccount(store, 'claude')
  const first = await addSession(store, claude)
  const second = await addSession(store, claude)
  const { id } = await post(store, operator.account, operator.session, [toSession(claude, first)])
  const release = { account: 'claude', session: first.name }
  expect((await office.run('orphan/list', {})).orphans).toEqual([])
  expect(await refusal(office.run('orphan/release', release))).toMatchObject({ kind: 'not_orphaned' })
  gone.add(first.id)
  const { orphans } = await office.run('orphan/list', { account: 'claude' })
  expect(orphans).toMatchObject([{ account: 'claude', session: first.name, count: 1 }])
  expect(orphans[0]?.oldest).toMatch(/^m4a_[0-9a-f]{24}$/)
  expect(shown(store, claude, second)).toEqual([])
  expect(await office.run('orphan/release', release)).toEqual({ released: 1 })
  expect(shown(store, claude, second)).toEqual([id])
  expect((await office.run('orphan/list', {})).orphans).toEqual([])
})

test('a session is named by a unique prefix', async () => {
  const claude = await addAccount(office.store, 'claude')
  const sessions = [await addSession(office.store, claude), await addSession(office.store, claude)]
  const ambiguous = await refusal(office.run('orphan/release', { account: 'claude', session: 's-0000' }))
  expect(ambiguous.toJSON()).toMatchObject({
    kind: 'ambiguous_session',
    candidates: sessions.map(({ name }) => `claude/${name}`),
  })
  const unknown = office.run('orphan/release', { account: 'claude', session: 's-ffff' })
  expect(await refusal(unknown)).toMatchObject({ kind: 'unknown_session' })
  const codex = await addAccount(office.store, 'codex')
  const ended = await addSession(office.store, codex)
  await post(office.store, office.operator.account, office.operator.session, [toSession(codex, ended)])
  await office.store.endSession(ended)
  expect(await office.run('orphan/release', { account: 'codex', session: 's-0000' })).toEqual({ released: 1 })
})

test('a backup is a store of its own, private, and never overwritten', async () => {
  using folder = tempFolder()
  const store = await openStore(`${folder.path}/mail.sqlite`)
  try {
    const mail = { ...office.mail, store, dataDir: folder.path }
    const account = await addAccount(store, 'boss', { operator: true })
    const caller = { account, session: await addSession(store, account) }
    const { path, bytes } = await administer(mail, 'backup', caller, { name: 'copy.sqlite' })
    expect(path).toBe(`${folder.path}/backups/copy.sqlite`)
    expect(bytes).toBe(statSync(path).size)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    using copy = new Database(path, { readonly: true })
    expect(copy.query('SELECT name FROM account').all()).toEqual([{ name: 'boss' }])
    expect(await refusal(administer(mail, 'backup', caller, { name: 'copy.sqlite' }))).toMatchObject({
      kind: 'name_taken',
    })
    for (const name of ['.', '..', '.hidden'])
      expect(await refusal(administer(mail, 'backup', caller, { name }))).toMatchObject({ kind: 'malformed' })
    expect(existsSync((await administer(mail, 'backup', caller, {})).path)).toBe(true)
  } finally {
    await store.close()
  }
})
