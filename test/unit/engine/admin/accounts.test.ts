// Accounts: secrets are shown once and only where we made them, names are taken once, an operator always remains.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { digestOf } from '../../../../src/engine/admin/secret.ts'
import { addSession, post, shown, toAccount } from '../../../support/population.ts'
import { openOffice, refusal } from './office.ts'

let office: Awaited<ReturnType<typeof openOffice>>
beforeEach(async () => {
  office = await openOffice()
})
afterEach(() => office.close())

test('a new account may send and read, and its secret names it', async () => {
  const { id, secret } = await office.run('participant', { id: 'claude' })
  expect(id).toBe('claude')
  expect(secret).toMatch(/^[0-9a-f]{64}$/)
  const row = office.store.registry.accountByDigest(digestOf(secret ?? ''))
  expect(row?.name).toBe('claude')
  expect(row?.kind).toBe('agent')
  expect(row?.can).toEqual({ send: true, read: true, dispatch: false, behalf: false, operator: false })
})

test('with one capability named, the others are what was named', async () => {
  await office.run('participant', { id: 'clock', may_send: true })
  await office.run('participant', { id: 'nobody', may_read: false })
  await office.run('participant', { id: 'plain', may_read: null, operator: null })
  expect(office.store.registry.account('clock')?.can).toMatchObject({ send: true, read: false })
  expect(office.store.registry.account('nobody')?.can).toMatchObject({ send: false, read: false })
  expect(office.store.registry.account('plain')?.can).toMatchObject({ send: true, read: true })
})

test('a given digest is kept and no secret is answered', async () => {
  const digest = digestOf('a secret of another system')
  expect(await office.run('participant', { id: 'codex', digest })).toEqual({ id: 'codex' })
  expect(office.store.registry.accountByDigest(digest)?.name).toBe('codex')
  expect(await office.run('participant/rotate', { id: 'codex', digest: digestOf('next') })).toEqual({ id: 'codex' })
  expect(office.store.registry.accountByDigest(digest)).toBeUndefined()
})

test('two accounts never share a secret', async () => {
  const digest = digestOf('one')
  await office.run('participant', { id: 'a', digest })
  expect(await refusal(office.run('participant', { id: 'b', digest }))).toMatchObject({ kind: 'malformed' })
  await office.run('participant', { id: 'b' })
  const again = await refusal(office.run('participant/rotate', { id: 'b', digest }))
  expect(again.facts).toMatchObject({ field: 'digest' })
})

test('a name is taken without regard to case, and the existing account keeps its secret', async () => {
  const { secret } = await office.run('participant', { id: 'Claude' })
  const taken = await refusal(office.run('participant', { id: 'claude' }))
  expect(taken.toJSON()).toMatchObject({ kind: 'name_taken', participant: 'Claude' })
  expect(JSON.stringify(taken)).not.toMatch(/[0-9a-f]{64}/)
  expect(office.store.registry.accountByDigest(digestOf(secret ?? ''))?.name).toBe('Claude')
})

test('of two registrations at once one gets the name', async () => {
  const both = await Promise.allSettled([
    office.run('participant', { id: 'twin' }),
    office.run('participant', { id: 'TWIN' }),
  ])
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
})

test('a rotated secret ends the old one', async () => {
  const { secret: old } = await office.run('participant', { id: 'claude' })
  const { secret } = await office.run('participant/rotate', { id: 'CLAUDE' })
  expect(secret).not.toBe(old)
  expect(office.store.registry.accountByDigest(digestOf(old ?? ''))).toBeUndefined()
  expect(office.store.registry.accountByDigest(digestOf(secret ?? ''))?.name).toBe('claude')
})

test('set changes only what is given', async () => {
  await office.run('participant', { id: 'claude', label: 'Claude Code' })
  const first = await office.run('participant/set', { id: 'claude', may_dispatch: true })
  expect(first).toMatchObject({
    label: 'Claude Code',
    may_send: true,
    may_read: true,
    may_dispatch: true,
    kind: 'agent',
  })
  const second = await office.run('participant/set', { id: 'claude', kind: 'person', may_send: false })
  expect(second).toMatchObject({ label: 'Claude Code', may_send: false, may_dispatch: true, kind: 'person' })
  expect(await office.run('participant/set', { id: 'claude', label: '' })).toMatchObject({ label: null })
})

test('a label is one line', async () => {
  expect(await refusal(office.run('participant', { id: 'a', label: 'two\nlines' }))).toMatchObject({
    kind: 'malformed',
  })
  expect(await refusal(office.run('participant', { id: 'a', label: 'ä'.repeat(300) }))).toMatchObject({
    kind: 'too_large',
  })
  expect(office.store.registry.account('a')).toBeUndefined()
})

test('the last operator stays', async () => {
  for (const attempt of [
    office.run('participant/remove', { id: 'operator' }),
    office.run('participant/set', { id: 'operator', operator: false }),
  ])
    expect(await refusal(attempt)).toMatchObject({ kind: 'last_operator' })
  await office.run('participant', { id: 'second', operator: true })
  await office.run('participant/remove', { id: 'operator' })
  expect(await refusal(office.run('participant/list', {}))).toMatchObject({ kind: 'permission_denied' })
})

test('two operators who remove each other at once leave one', async () => {
  await office.run('participant', { id: 'second', operator: true })
  const account = office.store.registry.account('second')
  if (!account) throw new Error('the account is there')
  const second = { account, session: await addSession(office.store, account) }
  await Promise.allSettled([
    office.run('participant/remove', { id: 'second' }),
    office.run('participant/remove', { id: 'operator' }, second),
  ])
  expect(office.store.registry.accounts().filter(({ can }) => can.operator)).toHaveLength(1)
})

test('a removed name starts anew: no mail, no rooms, no rights of the earlier one', async () => {
  const { store, operator } = office
  await office.run('participant', { id: 'claude', may_send: true, may_read: true, may_dispatch: true })
  await office.run('room', { id: 'build' })
  await office.run('room/member/add', { room: 'build', participant: 'claude' })
  const before = store.registry.account('claude')
  if (!before) throw new Error('the account is there')
  await post(store, operator.account, operator.session, [toAccount(before)])
  await office.run('participant/remove', { id: 'claude' })
  expect(await refusal(office.run('participant/rotate', { id: 'claude' }))).toMatchObject({
    kind: 'unknown_participant',
  })
  await office.run('participant', { id: 'claude' })
  const after = store.registry.account('claude')
  if (!after) throw new Error('the account is there')
  expect(after.id).not.toBe(before.id)
  expect(after.can.dispatch).toBe(false)
  expect(store.registry.roomsOf(after.id)).toEqual([])
  expect(shown(store, after, await addSession(store, after))).toEqual([])
})

test('the list is paged by name without case, and holds no digest', async () => {
  for (const id of ['b', 'A', 'c', 'D']) await office.run('participant', { id, digest: digestOf(id) })
  const first = await office.run('participant/list', { limit: 3 })
  expect(first.accounts.map(({ id }) => id)).toEqual(['A', 'b', 'c'])
  expect(first).toMatchObject({ has_more: true, after: 'c' })
  const rest = await office.run('participant/list', { limit: 3, after: 'C' })
  expect(rest.accounts.map(({ id }) => id)).toEqual(['D', 'operator'])
  expect(rest.has_more).toBe(false)
  expect(JSON.stringify([first, rest])).not.toMatch(/[0-9a-f]{64}|digest/)
})

test('only operators administer', async () => {
  await office.run('participant', { id: 'claude' })
  const account = office.store.registry.account('claude')
  if (!account) throw new Error('the account is there')
  const caller = { account, session: await addSession(office.store, account) }
  expect(await refusal(office.run('participant/list', {}, caller))).toMatchObject({ kind: 'permission_denied' })
})
