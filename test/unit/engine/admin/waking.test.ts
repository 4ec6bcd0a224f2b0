// What is taken from an account ends the waits of its readers at once, with the refusal that says so.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { run } from '../../../../src/engine/engine.ts'
import type { Caller } from '../../../../src/engine/mail.ts'
import { addAccount, addSession } from '../../../support/population.ts'
import { openOffice, refusal } from './office.ts'

let office: Awaited<ReturnType<typeof openOffice>>
let reader: Caller

beforeEach(async () => {
  office = await openOffice()
  const account = await addAccount(office.store, 'claude')
  reader = { account, session: await addSession(office.store, account) }
})
afterEach(() => office.close())

const never = new AbortController().signal
/** A wait that is parked, and how it was refused within a second. */
async function parked(): Promise<Promise<string>> {
  const waiting = refusal(
    Promise.resolve(run(office.mail, 'inbox', reader, { wait_secs: 30 }, { capSeconds: 30, signal: never })),
  )
  while (office.mail.parking.parked(reader.session.box) === 0) await Bun.sleep(1)
  return Promise.race([waiting.then(({ kind }) => kind), Bun.sleep(1_000).then(() => 'still waits')])
}
const kindAfter = async (change: () => Promise<unknown>): Promise<string> => {
  const [kind] = await Promise.all([parked(), Bun.sleep(50).then(change)])
  return kind
}

test('a token that is replaced, and an account that is removed', async () => {
  expect(await kindAfter(() => office.run('participant/rotate', { id: 'claude' }))).toBe('unauthenticated')
  const account = office.store.registry.account('claude')
  if (account) reader = { ...reader, account }
  expect(await kindAfter(() => office.run('participant/remove', { id: 'claude' }))).toBe('unauthenticated')
})

test('the right to read; another change only makes it look again', async () => {
  expect(await kindAfter(() => office.run('participant/set', { id: 'claude', label: 'C' }))).toBe('still waits')
  expect(await kindAfter(() => office.run('participant/set', { id: 'claude', may_read: false }))).toBe(
    'permission_denied',
  )
})
