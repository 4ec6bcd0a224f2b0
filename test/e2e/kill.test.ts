// kill -9 while 64 connections send, again and again on one data folder: what was acknowledged is there, whole and in its state.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Mailbox } from './support/mailbox.ts'
import { accepted, Wire } from './support/wire.ts'

const ROUNDS = Number(process.env.M4A_KILLS ?? 20)
const SENDERS = 64
const SETTLERS = 4
/** Several, so that no account reaches its own rate. */
const ACCOUNTS = ['s0', 's1', 's2', 's3', 's4', 's5', 's6', 's7']

let mailbox: Mailbox
let reader: string
const senders: string[] = []
beforeAll(async () => {
  mailbox = await Mailbox.start()
  reader = await mailbox.account('reader')
  for (const name of ACCOUNTS) senders.push(await mailbox.account(name))
})
afterAll(() => mailbox[Symbol.asyncDispose]())

type State = 'new' | 'opened' | 'closed'
type Letter = { id: string; body: string; from: string }

/** idempotency key → what was sent under it, by whom. */
const sent = new Map<string, { token: string; request: object }>()
/** key → id, of the sends that were answered. */
const acknowledged = new Map<string, string>()
/** id → state of which the reader was told that it is so. */
const states = new Map<string, State>()
/** All that the reader was ever shown by paging, in order. */
const seen: Letter[] = []
let cursor: string | undefined
let serial = 0

async function sendUntilGone(wire: Wire, account: number): Promise<void> {
  const token = senders[account] ?? ''
  for (;;) {
    const key = `k${serial++}`
    const request = { to: 'reader', subject: 's', body: `${key} ${'ü'.repeat(serial % 300)}`, idempotency_key: key }
    sent.set(key, { token, request })
    const answer = await wire.post('/mail/send', token, request).catch(() => null)
    if (answer === null) return
    if (answer.status === 200) acknowledged.set(key, answer.body.message_id)
    else if (answer.body.kind === 'rate_limited') await Bun.sleep(answer.body.retry_after_ms)
    // anything else would be an outage of another kind than the one that is tested
    else throw new Error(answer.text)
  }
}

/** The reader opens and closes what it knows already, while all the rest goes on. */
async function settleUntilGone(wire: Wire, letters: readonly Letter[]): Promise<void> {
  for (const [index, { id }] of letters.entries()) {
    const close = index % 2 === 0
    const answer = await wire.post(close ? '/mail/ack' : '/mail/get', reader, { message_id: id }).catch(() => null)
    if (answer === null) return
    expect(answer.status).toBe(200)
    states.set(id, close ? 'closed' : 'opened')
  }
}

/** The store as the kill left it, in a copy, so that nothing is repaired before it was looked at. */
function checkLeftovers(): void {
  const folder = mkdtempSync(join(mailbox.root, 'copy-'))
  for (const name of ['mail.sqlite', 'mail.sqlite-wal'])
    if (existsSync(join(mailbox.data, name))) copyFileSync(join(mailbox.data, name), join(folder, name))
  const db = new Database(join(folder, 'mail.sqlite'))
  expect(db.query('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
  expect(db.query('PRAGMA foreign_key_check').all()).toEqual([])
  db.close()
  rmSync(folder, { recursive: true })
}

/** Pages on from the cursor of before the kill; nothing is shown twice, nothing out of order. */
async function readOn(wire: Wire): Promise<void> {
  for (;;) {
    const request = { state: 'all', limit: 256, max_bytes: 1_000_000, ...(cursor ? { cursor } : {}) }
    const page = await accepted(wire.post('/mail/inbox', reader, request))
    for (const one of page.messages) {
      expect(one.message_id > (seen.at(-1)?.id ?? '')).toBe(true)
      seen.push({ id: one.message_id, body: one.body, from: one.from.participant })
    }
    cursor = page.cursor ?? undefined
    if (!page.has_more) return
  }
}

test(
  `${ROUNDS} kills`,
  async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const before = seen.length
      const wires = await Wire.many(mailbox.port, SENDERS + SETTLERS)
      const known = seen.filter(({ id }) => !states.has(id)).slice(-400)
      const work = [
        ...wires.slice(0, SENDERS).map((wire, index) => sendUntilGone(wire, index % ACCOUNTS.length)),
        ...wires.slice(SENDERS).map((wire, own) =>
          settleUntilGone(
            wire,
            known.filter((_, index) => index % SETTLERS === own),
          ),
        ),
      ]
      const answered = acknowledged.size
      // in full swing, however busy the machine is; then somewhere within a commit
      const swing = performance.now() + 20_000
      while (acknowledged.size < answered + 4 * SENDERS && performance.now() < swing) await Bun.sleep(5)
      await Bun.sleep(13 * (round % 7))
      await mailbox.down('SIGKILL')
      await Promise.all(work)
      expect(acknowledged.size).toBeGreaterThanOrEqual(answered + 4 * SENDERS)
      checkLeftovers()

      await mailbox.up()
      const wire = await Wire.open(mailbox.port)
      await readOn(wire)
      const found = new Map(seen.slice(before).map((letter) => [letter.id, letter]))
      for (const [key, id] of [...acknowledged].slice(answered)) {
        const { token, request } = sent.get(key)!
        expect(found.get(id)).toEqual({
          id,
          body: (request as { body: string }).body,
          from: ACCOUNTS[senders.indexOf(token)]!,
        })
      }
      wire.cut()
    }
  },
  ROUNDS * 10_000,
)

test('every state that was answered has held through all the kills', async () => {
  const wire = await Wire.open(mailbox.port)
  expect([...states.values()].filter((state) => state === 'closed').length).toBeGreaterThan(ROUNDS)
  const shown = new Map<string, State>()
  for (let at: string | undefined; ; ) {
    const request = { state: 'all', limit: 256, max_bytes: 1_000_000, ...(at ? { cursor: at } : {}) }
    const page = await accepted(wire.post('/mail/inbox', reader, request))
    for (const one of page.messages) shown.set(one.message_id, one.state)
    at = page.cursor
    if (!page.has_more) break
  }
  const wrong = [...states].filter(([id, state]) => shown.get(id) !== state && shown.get(id) !== 'closed')
  expect(wrong).toEqual([])
  const closed = [...states].filter(([id, state]) => state === 'closed' && shown.get(id) !== 'closed')
  expect(closed).toEqual([])
  const { unread } = await accepted(wire.post('/mail/unread', reader, {}))
  expect(unread).toBe([...shown.values()].filter((state) => state !== 'closed').length)
  wire.cut()
}, 60_000)

test('a send that got no answer can be repeated: each letter is there exactly once', async () => {
  const wire = await Wire.open(mailbox.port)
  const unanswered = [...sent].filter(([key]) => !acknowledged.has(key))
  expect(unanswered.length).toBeGreaterThan(0)
  for (const [key, { token, request }] of unanswered) {
    const { message_id } = await accepted(wire.post('/mail/send', token, request))
    acknowledged.set(key, message_id)
  }
  await readOn(wire)
  const bodies = new Set(seen.map(({ body }) => body))
  expect(bodies.size).toBe(seen.length)
  expect(seen.length).toBe(sent.size)
  expect(new Set(acknowledged.values()).size).toBe(sent.size)
  console.log(`${ROUNDS} kills, ${seen.length} letters, ${unanswered.length} of them without an answer at first`)
  wire.cut()
}, 60_000)
