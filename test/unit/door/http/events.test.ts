// The event stream: ids only, of what the caller may read, from any point on, until the end.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Event } from '../../../../src/client/client.ts'
import { LIMITS } from '../../../../src/wire/limits.ts'
import { Office, refusalOf } from '../support.ts'

let office: Office
beforeAll(async () => {
  office = await Office.open('alice', 'bob', 'carol', 'dora')
})
afterAll(() => office[Symbol.asyncDispose]())

/** Reads `count` events of an account, positions aside, while `work` runs. */
async function during(
  account: string,
  count: number,
  work: () => Promise<unknown>,
  over: 'tcp' | 'unix' = 'tcp',
): Promise<Event[]> {
  const stream = office.client(account, over).events()
  const events: Event[] = []
  const first = stream.next()
  await Bun.sleep(100)
  await work()
  for (let next = await first; !next.done; next = await stream.next()) {
    if (next.value.kind === 'position') continue
    events.push(next.value)
    if (events.length === count) break
  }
  await stream.return(undefined)
  return events
}

const send = (from: string, to: string) =>
  office.client(from).call('send', { to, subject: 'secret subject', body: 'b' })

test.each(['tcp', 'unix'] as const)('tells sender and reader, over %s, and nobody else', async (over) => {
  const work = async () => {
    await send('alice', 'carol')
    const { message_id } = await send('alice', 'bob')
    await office.client('bob').call('ack', { message_id })
  }
  const events = await during('bob', 2, work, over)
  expect(events.map((event) => event.kind)).toEqual(['sent', 'closed'])
  expect(Object.keys(events[0] ?? {}).sort()).toEqual(['at', 'cursor', 'kind', 'message_id'])
})

test('goes on after a cursor', async () => {
  const [seen] = await during('bob', 1, () => send('alice', 'bob'))
  const { message_id } = await send('alice', 'bob')
  const stream = office.client('bob').events(seen?.cursor)
  expect((await stream.next()).value).toEqual({ kind: 'position', cursor: seen?.cursor })
  expect((await stream.next()).value).toMatchObject({ kind: 'sent', message_id })
  await stream.return(undefined)
})

test('who is cut off before the first event goes on from the position that it was told', async () => {
  const early = office.client('bob').events()
  const { value } = await early.next()
  await early.return(undefined)
  const { message_id } = await send('alice', 'bob')
  const stream = office.client('bob').events(value?.cursor)
  await stream.next()
  expect((await stream.next()).value).toMatchObject({ kind: 'sent', message_id })
  await stream.return(undefined)
})

test('one reader too many is told so, with when to come back; one that leaves makes room', async () => {
  const headers = { authorization: `Bearer ${office.token('carol')}` }
  const open = await Promise.all(
    Array.from({ length: LIMITS.eventsAccount }, () => office.fetch('/events', { headers })),
  )
  const late = await office.fetch('/events', { headers })
  expect([late.status, late.headers.get('retry-after')]).toEqual([429, '1'])
  expect(await late.json()).toMatchObject({ kind: 'too_many', limit: LIMITS.eventsAccount, retry_after_ms: 1_000 })
  const other = office.client('bob').events()
  expect((await other.next()).value?.kind).toBe('position')
  await other.return(undefined)
  for (const answer of open) await answer.body?.cancel()
  for (const end = performance.now() + 20_000; performance.now() < end; await Bun.sleep(20)) {
    const again = await office.fetch('/events', { headers })
    await again.body?.cancel()
    if (again.status === 200) return
  }
  throw new Error('the places were not given back')
}, 60_000)

test('takes the cursor from the query as well', async () => {
  const headers = { authorization: `Bearer ${office.token('bob')}` }
  const { cursor } = await office.client('bob').call('inbox', { state: 'all' })
  const { message_id } = await send('alice', 'bob')
  const answer = await office.fetch(`/events?cursor=${cursor}`, { headers })
  let text = ''
  for await (const piece of answer.body ?? []) {
    text += new TextDecoder().decode(piece)
    if (text.includes('data:')) break
  }
  expect(text).toStartWith('retry: 1000\nid: ')
  expect(text).toContain(message_id)
  expect(text).not.toContain('secret subject')
})

test('a cursor of another store, and what is none', async () => {
  const client = office.client('bob')
  expect((await refusalOf(client.events('00000000.1').next())).kind).toBe('cursor_expired')
  expect((await refusalOf(client.events('nonsense').next())).toJSON()).toMatchObject({
    kind: 'malformed',
    field: 'cursor',
  })
})

// a heartbeat, at which it would end too, comes after 15 s
test.each(['rotate', 'remove'] as const)(
  'ends at once when the account loses its token: %s',
  async (how) => {
    const stream = office.client(how === 'rotate' ? 'carol' : 'dora').events()
    expect((await stream.next()).value?.kind).toBe('position')
    const end = stream.next()
    await office.client('operator').admin(`participant/${how}`, { id: how === 'rotate' ? 'carol' : 'dora' })
    expect((await end).done).toBe(true)
  },
  12_000,
)

test('a place below what retention has removed is refused, and no gap is passed over', async () => {
  const [seen] = await during('bob', 1, () => send('alice', 'bob'))
  const { message_id } = await send('alice', 'bob')
  await office.client('bob').call('ack', { message_id })
  // a hundred days pass
  const db = new Database(join(office.dataDir, 'mail.sqlite'))
  db.run('UPDATE message SET created = created - 8640000000')
  db.run('UPDATE delivery SET closed_at = closed_at - 8640000000')
  db.close()
  expect((await office.client('operator').admin('retention', { run: true })).messages).toBeGreaterThan(0)
  const stream = office.client('bob').events(seen?.cursor)
  expect((await refusalOf(stream.next())).kind).toBe('cursor_expired')
})
