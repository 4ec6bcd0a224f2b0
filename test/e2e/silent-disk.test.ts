// A disk that does not answer: fsync(2) hangs, or fails, under the real binary. What was acknowledged is there, the rest is refused
// by name in time, readers go on, /health and metrics say what is wrong, a stop still stops, and all is well once the disk is.
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { report } from '../support/results.ts'
import { Caller, fresh } from './support/caller.ts'
import { FaultyDisk } from './support/faulty-disk.ts'
import { Mailbox } from './support/mailbox.ts'

setDefaultTimeout(120_000)

const ROUNDS = Number(process.env.M4A_SILENT_DISKS ?? 1)
const SENDERS = 8

let disk: FaultyDisk | null
let mailbox: Mailbox
let ann: Caller
let operator: Caller
const began = performance.now()
const told = { sends: 0, refused: 0, unsure: 0, lost: 0, hangs: 0, eio: 0 }
beforeAll(async () => {
  disk = FaultyDisk.build()
  if (!disk) return
  mailbox = await Mailbox.start(disk.environment)
  ann = await Caller.make(mailbox, fresh('ann'))
  operator = Caller.operator(mailbox)
})
afterEach(() => disk?.order('well'))
afterAll(async () => {
  await mailbox?.[Symbol.asyncDispose]()
  disk?.[Symbol.dispose]()
  if (disk)
    report({
      suite: 'silent-disk',
      topic: 'faults',
      what: 'fsync hangs for longer than anybody waits, or fails, while eight senders and readers go on',
      run: 'M4A_KEEP_RESULTS=1 M4A_SILENT_DISKS=5 node src/bun.mjs test test/e2e/silent-disk.test.ts',
      seconds: (performance.now() - began) / 1000,
      cases: { count: told.sends, what: 'sends' },
      seeds: [],
      faults: { 'fsync hangs': told.hangs, 'fsync fails': told.eio },
      load: `${SENDERS} senders`,
      lost: told.lost,
      wrong: 0,
      figures: { refused: told.refused, 'answered that it is not known': told.unsure },
    })
})

const health = async () =>
  (await fetch(`${mailbox.url}/health`)).json() as Promise<{ ok: boolean; store: { reason?: string } }>
async function until(what: () => Promise<boolean>, ms = 60_000): Promise<void> {
  for (const end = performance.now() + ms; !(await what()); await Bun.sleep(50))
    if (performance.now() > end) throw new Error('it does not come')
}

type Sent = { key: string; status: number; body: Record<string, any> }
let serial = 0
async function send(key = `k${serial++}`): Promise<Sent> {
  const letter = { to: 'operator', subject: 's', body: key, idempotency_key: key }
  const { status, body } = await ann.post('/mail/send', letter)
  told.sends++
  if (status !== 200) told.refused++
  return { key, status, body }
}
/** Every letter that was acknowledged, by key. */
const acknowledged = new Map<string, string>()
async function sendUntil(over: () => boolean): Promise<Sent[]> {
  const all: Sent[] = []
  while (!over()) {
    const one = await send()
    all.push(one)
    if (one.status === 200) acknowledged.set(one.key, one.body.message_id)
    else await Bun.sleep(50)
  }
  return all
}
async function checkAllThere(): Promise<void> {
  for (const [key, message_id] of acknowledged) {
    const { status, body } = await operator.post('/mail/get', { message_id, peek: true })
    if (status !== 200 || body.body !== key) told.lost++
  }
  expect(told.lost).toBe(0)
}

test('while no sync returns: senders are answered in time, readers go on, and afterwards each letter is there once', async () => {
  if (!disk) return
  for (let round = 0; round < ROUNDS; round++) {
    let over = false
    const senders = Promise.all(Array.from({ length: SENDERS }, () => sendUntil(() => over)))
    const before = acknowledged.size
    await until(async () => acknowledged.size > before + 20)
    disk.order('hang')
    told.hangs++
    await until(async () => !(await health()).ok)
    expect((await health()).store).toEqual({ ok: false, reason: 'the disk does not answer' } as object)
    const metrics = await fetch(`${mailbox.url}/metrics`, {
      headers: { authorization: `Bearer ${mailbox.operatorKey}` },
    })
    expect(await metrics.text()).toContain('\nm4a_store_up 0\n')
    // what is known is told; what has to be written is refused at once
    expect((await operator.ask('inbox', { limit: 1 })).messages).toHaveLength(1)
    const refused = await send()
    expect(refused).toMatchObject({ status: 503, body: { kind: 'store_unavailable', retry_after_ms: 1000 } })
    expect(refused.body.message).toContain('the disk does not answer')
    over = true
    const unsure = (await senders).flat().filter(({ body }) => /not known/.test(body.message ?? ''))
    told.unsure += unsure.length
    expect(unsure.length).toBeGreaterThan(0)
    for (const { body } of unsure) expect(body.hint).toContain('idempotency_key')

    disk.order('well')
    await until(async () => (await health()).ok)
    for (const { key } of unsure) {
      const again = await send(key)
      expect(again.status).toBe(200)
      acknowledged.set(key, again.body.message_id)
    }
    await checkAllThere()
    const { messages } = await operator.ask('search', { query: unsure[0]?.key ?? '', limit: 10 })
    expect(messages.filter(({ body }: { body: string }) => body === unsure[0]?.key)).toHaveLength(1)
  }
})

test('while every sync fails: refused with the reason, and what was acknowledged stays', async () => {
  if (!disk) return
  disk.order('eio')
  told.eio++
  for (let tries = 0; tries < 20; tries++)
    expect(await send()).toMatchObject({
      status: 503,
      body: { kind: 'store_unavailable', message: expect.stringContaining('I/O error') },
    })
  expect(await health()).toMatchObject({ ok: false, store: { ok: false, reason: 'disk I/O error' } })
  disk.order('well')
  await until(async () => (await health()).ok)
  const after = await send()
  expect(after.status).toBe(200)
  acknowledged.set(after.key, after.body.message_id)
  await checkAllThere()
})

test('a mailbox on a silent disk still stops, and the next one has every letter', async () => {
  if (!disk) return
  disk.order('hang')
  told.hangs++
  const waiting = send().catch(() => null)
  const end = performance.now()
  const { code } = await mailbox.down()
  expect(code).toBe(0)
  expect(performance.now() - end).toBeLessThan(60_000)
  const answer = await waiting
  expect(answer === null || answer.status !== 200).toBe(true)
  disk.order('well')
  await mailbox.up(disk.environment)
  await checkAllThere()
})
