// Desktop notifications on a real store: who is told, once, together, at a bounded rate, and again only what was not finished.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Desktop } from '../../../../src/delivery/desktop/desktop.ts'
import type { Shown } from '../../../../src/delivery/desktop/news.ts'
import { Notifier, type NotifierOptions } from '../../../../src/delivery/desktop/notifier.ts'
import type { Outcome } from '../../../../src/store/dispatch/rows.ts'
import type { AccountRow, SessionRow } from '../../../../src/store/rows.ts'
import { tempFolder } from '../../../support/temp.ts'
import { carryIn, type Office, openOffice, toAccount, toRoom, toSession } from '../office.ts'

let office: Office
let notifier: Notifier
let pat: AccountRow
let patTerminal: SessionRow
let codex: SessionRow
let claude: SessionRow
const shown: (Shown & { key: string })[] = []
const complaints: string[] = []
let broken: string | null = null

const desktop: Desktop = {
  through: 'a list',
  async show(one, key) {
    if (broken !== null) throw new Error(broken)
    shown.push({ ...one, key })
  },
}
const begin = (options: Partial<NotifierOptions> = {}) => {
  const log = (_: string, { reason }: { reason: string }) => void complaints.push(reason)
  notifier = new Notifier(office.store, desktop, { log, gatherMs: 30, againMs: 30, ...options })
  notifier.start()
}
const soon = () => Bun.sleep(90)

beforeEach(async () => {
  shown.length = complaints.length = 0
  broken = null
  office = await openOffice()
  pat = await office.store.changeAccount(await office.account('pat'), { kind: 'person' })
  patTerminal = await office.session(pat)
  codex = await office.session(await office.account('codex'))
  claude = await office.session(await office.account('claude'))
  begin()
})
afterEach(async () => {
  await notifier.stop()
  await office.store.close()
})

test('a burst is one notification: how much and from whom, and nothing of what it says', async () => {
  for (let count = 0; count < 20; count++) await office.send(codex, toAccount(pat))
  await office.send(claude, toSession(pat, patTerminal))
  await soon()
  expect(shown).toEqual([
    { title: 'mail4agent: 21 new letters for pat', body: '21 from somebody', key: `mail-${pat.id}` },
  ])
  expect(JSON.stringify(shown)).not.toContain('secret')
  expect(notifier.state(pat)).toMatchObject({ on: true, waiting: false, failure: null, shown: expect.any(Number) })
})

test('not told: agents, own mail, what is opened, what must wake nobody', async () => {
  const agent = office.store.registry.accountById(codex.account)
  if (agent) await office.send(claude, toAccount(agent))
  await office.send(patTerminal, toAccount(pat))
  await office.send(codex, toAccount(pat), { hop: 17 })
  await office.send(codex, toAccount(pat), { suppressed: 'rate' })
  const { id } = await office.send(codex, toAccount(pat))
  await office.store.open(pat, patTerminal, { ids: [id] })
  const room = await office.room('build', pat)
  await soon()
  expect(shown).toEqual([])
  await office.send(codex, toRoom(room, pat))
  await soon()
  expect(shown).toHaveLength(1)
})

test('a repeated signal that nobody has opened is told once', async () => {
  await office.send(codex, toAccount(pat), { upsert: 'build' })
  await soon()
  await office.send(codex, toAccount(pat), { upsert: 'build' })
  await soon()
  expect(shown).toHaveLength(1)
})

test('off is off, and what came meanwhile is no news afterwards; both survive a restart', async () => {
  await notifier.turn(pat, false)
  await office.send(codex, toAccount(pat))
  await notifier.stop()
  begin()
  await office.send(codex, toAccount(pat))
  await soon()
  expect(notifier.state(pat).on).toBe(false)
  await notifier.turn(pat, true)
  await soon()
  expect(shown).toEqual([])
  await office.send(codex, toAccount(pat))
  await soon()
  expect(shown.map(({ title }) => title)).toEqual(['mail4agent: 1 new letter for pat'])
})

test('the rate is kept in the store: a restart does not start it anew', async () => {
  let now = 1_000_000
  const rate = { now: () => now, rate: { burst: 2, everyMs: 100_000 } }
  await notifier.stop()
  begin(rate)
  for (let count = 0; count < 4; count++) {
    await office.send(codex, toAccount(pat))
    await soon()
    if (count === 2) await notifier.stop().then(() => begin(rate))
  }
  expect(shown).toHaveLength(2)
  expect(notifier.state(pat).waiting).toBe(true)
  await notifier.test(pat).catch((error) => expect(error).toMatchObject({ kind: 'rate_limited' }))
  now += 100_000
  await notifier.stop()
  begin(rate)
  await soon()
  expect(shown.at(-1)?.title).toBe('mail4agent: 2 new letters for pat')
  expect(shown).toHaveLength(3)
})

test('one that fails is tried once more, then it is kept why; the log says it once', async () => {
  broken = 'no desktop\u001b[31m\u202e'
  await office.send(codex, toAccount(pat))
  await soon()
  await office.send(codex, toAccount(pat))
  await soon()
  expect(notifier.counts).toEqual({ shown: 0, failed: 4 })
  expect(complaints).toEqual(['no desktop [31m'])
  expect(notifier.state(pat)).toMatchObject({ failure: 'no desktop [31m', failedAt: expect.any(Number) })
  broken = null
  await office.send(codex, toAccount(pat))
  await Bun.sleep(50)
  expect(notifier.state(pat)).toMatchObject({ failure: 'no desktop [31m' }) // the rate was used up by what failed
})

test('ended before it told, it tells after the next start, and no more after that', async () => {
  using folder = tempFolder()
  await notifier.stop()
  await office.store.close()
  const path = join(folder.path, 'mail.sqlite')
  office = await openOffice(path)
  pat = await office.store.changeAccount(await office.account('pat'), { kind: 'person' })
  codex = await office.session(await office.account('codex'))
  begin({ gatherMs: 10_000 })
  await office.send(codex, toAccount(pat))
  for (const titles of [['mail4agent: 1 new letter for pat'], ['mail4agent: 1 new letter for pat']]) {
    await notifier.stop()
    await office.store.close()
    office = await openOffice(path)
    begin()
    await soon()
    expect(shown.map(({ title }) => title)).toEqual(titles)
  }
})

test('the first letter ever of an account is told, also when its commit is all that was done', async () => {
  using folder = tempFolder()
  const path = join(folder.path, 'mail.sqlite')
  await notifier.stop()
  await office.store.close()
  office = await openOffice(path)
  pat = await office.store.changeAccount(await office.account('pat'), { kind: 'person' })
  await office.send(await office.session(await office.account('codex')), toAccount(pat))
  await office.store.close() // no notifier has seen it
  office = await openOffice(path)
  begin()
  await soon()
  expect(shown.map(({ title }) => title)).toEqual(['mail4agent: 1 new letter for pat'])
})

test('the cursor of who is told of nothing, or is gone, or has no news, holds nothing of the log back', async () => {
  const { store } = office
  const person = async (name: string) => store.changeAccount(await office.account(name), { kind: 'person' })
  const [off, left, agent] = [await person('off'), await person('left'), await office.account('agent')]
  for (const to of [pat, off, left]) await office.send(codex, toAccount(to))
  await soon()
  store.setCursor(`desktop:${agent.id}`, 1) // as a store has it from before an account was no person
  await notifier.stop()
  await soon()
  const subscribers = () => store.subscribers('desktop:').sort()
  expect(subscribers()).toHaveLength(4)
  begin({ tidyMs: 40 })
  await notifier.turn(off, false)
  await store.removeAccount(left)
  for (let count = 0; count < 3; count++) await office.send(codex, toAccount(agent))
  await soon()
  expect(subscribers()).toEqual([`desktop:${pat.id}`])
  expect(store.cursor(`desktop:${pat.id}`)).toBeGreaterThanOrEqual(store.head)
  const { id } = await office.send(codex, toAccount(agent))
  await store.settle(agent, await office.session(agent), [id], 'acknowledged')
  await soon()
  const { events } = await store.keeping.retain(Date.now() + 400 * 86_400_000)
  expect(events).toBeGreaterThan(0)
  expect(store.events(0, 99).filter(({ kind }) => kind !== 'sent')).toEqual([])
})

test('letters that were carried in are no news, neither with the next one nor after a start', async () => {
  const { store } = office
  const agent = store.registry.accountById(codex.account)
  if (agent) await carryIn(store, agent, pat)
  await office.send(codex, toAccount(pat))
  await soon()
  expect(shown.map(({ title }) => title)).toEqual(['mail4agent: 1 new letter for pat'])
  await notifier.stop()
  if (agent) await carryIn(store, agent, pat)
  begin()
  await soon()
  expect(shown).toHaveLength(1)
})

test('dispatches: done and failed are one notification, for who asked or, where an agent did, for operators; a stop is none', async () => {
  const boss = await office.store.changeAccount(await office.account('boss'), {
    can: { operator: true },
    kind: 'person',
  })
  const run = async (by: AccountRow, agent: number, outcome: Outcome) => {
    const about = { message: null, thread: null, fresh: false, depth: 1, parent: null, backOf: null }
    const row = await office.store.dispatches.queue({ ...about, agent, by: by.id, byBox: by.box })
    await office.store.dispatches.end(row?.id ?? 0, { outcome, reply: null, bounce: null }, null)
  }
  const agent = office.store.registry.accountById(claude.account)
  await run(pat, codex.account, 'replied')
  await run(pat, codex.account, 'ran')
  await run(pat, claude.account, 'timed_out')
  await run(pat, claude.account, 'stopped')
  if (agent) await run(agent, codex.account, 'silent')
  await soon()
  const told = [
    {
      title: 'mail4agent: 2 dispatches done, 1 dispatch failed',
      body: 'claude failed, codex is done (2)',
      key: `dispatch-${pat.id}`,
    },
    { title: 'mail4agent: 1 dispatch failed', body: 'codex failed', key: `dispatch-${boss.id}` },
  ]
  expect(shown.sort((a, b) => a.key.localeCompare(b.key))).toEqual(told.sort((a, b) => a.key.localeCompare(b.key)))
  expect(Object.fromEntries(office.store.dispatches.outcomes())).toMatchObject({
    replied: 1,
    ran: 1,
    stopped: 1,
    silent: 1,
  })
  expect(office.store.dispatches.failedToday(Date.now())).toBe(2)
})

test('mail and dispatches share the rate: what is above it comes later, together', async () => {
  await notifier.stop()
  begin({ rate: { burst: 1, everyMs: 250 } })
  const about = { message: null, thread: null, fresh: false, depth: 1, parent: null, backOf: null }
  await office.send(codex, toAccount(pat))
  for (let count = 0; count < 2; count++) {
    const row = await office.store.dispatches.queue({ ...about, agent: codex.account, by: pat.id, byBox: pat.box })
    await office.store.dispatches.end(row?.id ?? 0, { outcome: 'failed', reply: null, bounce: null }, null)
  }
  await soon()
  expect(shown.map(({ key }) => key)).toEqual([`mail-${pat.id}`])
  await Bun.sleep(350)
  expect(shown.slice(1)).toMatchObject([{ title: 'mail4agent: 2 dispatches failed', body: 'codex failed (2)' }])
})

test('wakes: operators hear of the newest of each agent, together; that an agent does not run is no news', async () => {
  const boss = await office.store.changeAccount(await office.account('boss'), {
    can: { operator: true },
    kind: 'person',
  })
  const boxOf = (session: SessionRow) => office.store.registry.accountById(session.account)?.box ?? 0
  const wake = (session: SessionRow, outcome: string, tried: { outcome: string | null }[] = []) =>
    office.store.wakes.addLog({
      box: boxOf(session),
      message: 1,
      count: 2,
      outcome,
      door: null,
      at: 1,
      ms: 1,
      tried: tried.map((one) => ({ door: 'a', session: session.name, detail: 'secret', ms: 1, ...one })),
    })
  await notifier.stop()
  begin({ rate: { burst: 9, everyMs: 20_000 } })
  await wake(codex, 'no_door')
  await wake(codex, 'stored', [{ outcome: 'stored' }])
  await soon()
  expect(shown).toEqual([])
  const told: string[] = []
  for (const outcome of ['started', 'held', 'refused', 'no_door']) {
    await wake(claude, outcome, [{ outcome: null }])
    await soon()
    told.push(
      shown
        .splice(0)
        .map(({ title, key }) => `${title} (${key})`)
        .join(),
    )
  }
  expect(told).toEqual(
    ['woke claude', 'claude needs its user', 'claude could not be woken', 'claude could not be woken'].map(
      (title) => `mail4agent: ${title} (wake-${boss.id})`,
    ),
  )
  await wake(claude, 'refused')
  await wake(claude, 'started')
  await wake(codex, 'unknown')
  await soon()
  expect(shown).toMatchObject([
    { title: 'mail4agent: agents with mail: woke 1, 1 not woken', body: 'codex could not be woken, woke claude' },
  ])
})

test('wakes share the rate with mail and dispatches', async () => {
  await office.store.changeAccount(pat, { can: { operator: true } })
  await notifier.stop()
  begin({ rate: { burst: 1, everyMs: 200 } })
  await office.send(codex, toAccount(pat))
  const row = { message: 1, count: 1, outcome: 'queued', door: 'a', at: 1, ms: 1, tried: [] }
  await office.store.wakes.addLog({ ...row, box: office.store.registry.accountById(claude.account)?.box ?? 0 })
  await soon()
  expect(shown.map(({ key }) => key)).toEqual([`mail-${pat.id}`])
  await Bun.sleep(300)
  expect(shown.slice(1)).toMatchObject([{ title: 'mail4agent: woke claude' }])
})
