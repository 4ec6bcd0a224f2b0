// kill -9 in the middle of closing, replying and writing to all: afterwards each of them has happened as a whole, or not at all.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Mailbox } from './support/mailbox.ts'
import { Wire } from './support/wire.ts'

const ROUNDS = Number(process.env.M4A_KILLS ?? 15)
const PEOPLE = 40
const STOCK = 60

let mailbox: Mailbox
let writer: string
let reader: string
const wholes = { replies: 0, broadcasts: 0, sweeps: 0 }
beforeAll(async () => {
  mailbox = await Mailbox.start()
  writer = await mailbox.account('writer')
  reader = await mailbox.account('reader')
  for (let i = 0; i < PEOPLE; i++) await mailbox.account(`p${i}`)
})
afterAll(() => mailbox[Symbol.asyncDispose]())

/** How many of each were answered in this round. */
const answered = { replies: 0, broadcasts: 0, sweeps: 0 }
const isGone = (): null => null
let serial = 0

/** Letters for the reader to work on, in subjects of ten. */
async function stock(wire: Wire): Promise<string[]> {
  const ids: string[] = []
  for (let i = 0; i < STOCK; i++) {
    const request = { to: 'reader', subject: `batch ${serial++ % 6}`, body: 'b' }
    ids.push((await wire.post('/mail/send', writer, request)).body.message_id)
  }
  return ids
}

async function replyUntilGone(wire: Wire, ids: readonly string[]): Promise<void> {
  for (const reply_to of ids) {
    const request = { reply_to, body: 'answer', close: true }
    if ((await wire.post('/mail/send', reader, request).catch(isGone)) === null) return
    answered.replies++
  }
}

async function sweepUntilGone(wire: Wire): Promise<void> {
  for (let i = 0; ; i++) {
    const answer = await wire.post('/mail/close_all', reader, { subject: `batch ${i % 6}` }).catch(isGone)
    if (answer === null) return
    answered.sweeps += answer.body.closed
  }
}

async function broadcastUntilGone(wire: Wire): Promise<void> {
  for (;;) {
    const request = { to: '@all', subject: 'to all', body: 'b' }
    const answer = await wire.post('/mail/send', mailbox.operatorKey, request).catch(isGone)
    if (answer === null) return
    answered.broadcasts++
    if (answer.body.kind === 'rate_limited') await Bun.sleep(answer.body.retry_after_ms)
  }
}

/** The store as the kill left it, opened as the mailbox will open it: in a copy. */
function leftovers<T>(look: (db: Database) => T): T {
  const folder = mkdtempSync(join(mailbox.root, 'copy-'))
  for (const name of ['mail.sqlite', 'mail.sqlite-wal'])
    if (existsSync(join(mailbox.data, name))) copyFileSync(join(mailbox.data, name), join(folder, name))
  const db = new Database(join(folder, 'mail.sqlite'))
  try {
    return look(db)
  } finally {
    db.close()
    rmSync(folder, { recursive: true })
  }
}

const count = (db: Database, sql: string): number =>
  db.query<{ n: number }, []>(`SELECT count(*) AS n ${sql}`).get()?.n ?? -1

function checkWhole(db: Database): void {
  // a reply that closes: there with its original closed, or neither
  const originals = "FROM delivery d WHERE d.closed = 1 AND d.reason = 'replied'"
  const replies = 'FROM message r WHERE r.parent IS NOT NULL'
  expect(count(db, `${originals} AND NOT EXISTS (SELECT 1 ${replies} AND r.parent = d.id)`)).toBe(0)
  // a sweep may have closed the original before
  const closed = 'FROM delivery d WHERE d.closed = 1 AND d.id = r.parent'
  expect(count(db, `${replies} AND NOT EXISTS (SELECT 1 ${closed})`)).toBe(0)
  wholes.replies = count(db, replies)
  // a letter to all: one delivery for each recipient that it names, and none besides
  const expected = '(SELECT count(*) FROM json_each(m.recipients))'
  expect(count(db, `FROM message m WHERE (SELECT count(*) FROM delivery d WHERE d.id = m.id) <> ${expected}`)).toBe(0)
  expect(count(db, 'FROM delivery d WHERE NOT EXISTS (SELECT 1 FROM message m WHERE m.id = d.id)')).toBe(0)
  wholes.broadcasts = count(db, `FROM message m WHERE ${expected} > 1`)
  // a close: with its event, who and when; and the counter of the box knows of it
  const events = "FROM event e WHERE e.kind = 'closed' AND e.message = d.id"
  expect(
    count(
      db,
      `FROM delivery d WHERE d.closed = 1 AND (closed_at IS NULL OR closed_by IS NULL OR NOT EXISTS (SELECT 1 ${events}))`,
    ),
  ).toBe(0)
  expect(count(db, "FROM event e JOIN delivery d ON d.id = e.message WHERE e.kind = 'closed' AND d.closed = 0")).toBe(0)
  expect(
    count(db, 'FROM box b WHERE b.open <> (SELECT count(*) FROM delivery d WHERE d.box = b.id AND d.closed = 0)'),
  ).toBe(0)
  wholes.sweeps = count(db, "FROM delivery WHERE closed = 1 AND reason = 'acknowledged'")
  expect(db.query('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
}

test(
  `${ROUNDS} kills`,
  async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const wires = await Wire.many(mailbox.port, 8)
      const [filler, ...rest] = wires as [Wire, ...Wire[]]
      const ids = await stock(filler)
      Object.assign(answered, { replies: 0, broadcasts: 0, sweeps: 0 })
      const half = ids.slice(0, STOCK / 2)
      const work = [
        ...rest.slice(0, 3).map((wire, own) =>
          replyUntilGone(
            wire,
            half.filter((_, index) => index % 3 === own),
          ),
        ),
        ...rest.slice(3, 5).map(sweepUntilGone),
        ...rest.slice(5).map(broadcastUntilGone),
      ]
      // in full swing, however busy the machine is; then somewhere within a commit
      const swing = performance.now() + 10_000
      while (Object.values(answered).some((count) => count === 0) && performance.now() < swing) await Bun.sleep(2)
      await Bun.sleep((13 * round) % 50)
      await mailbox.down('SIGKILL')
      await Promise.all(work)
      leftovers(checkWhole)
      await mailbox.up()
      expect((await mailbox.post('/mail/unread', reader, {})).body.unread).toBeGreaterThanOrEqual(0)
    }
    for (const [what, done] of Object.entries(wholes)) expect(`${what} ${done >= ROUNDS}`).toBe(`${what} true`)
    console.log(`${ROUNDS} kills: ${JSON.stringify(wholes)}`)
  },
  ROUNDS * 10_000,
)
