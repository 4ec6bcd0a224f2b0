// The clock of the machine jumps by years, forward and back, under the real binary (libfaketime): order, cursors, keys, waits and
// rates do not follow it, nothing is removed, no session ends, and afterwards all is as it was.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Random, seedFrom } from '../support/random.ts'
import { report } from '../support/results.ts'
import { tempFolder } from '../support/temp.ts'
import { Caller, fresh } from './support/caller.ts'
import { Mailbox } from './support/mailbox.ts'

setDefaultTimeout(120_000)

const JUMPS = Number(process.env.M4A_JUMPS ?? 12)
const random = new Random(seedFrom(3))
const folder = tempFolder()
const offset = join(folder.path, 'offset')
const began = performance.now()

/** The library for programs with threads; null where it is missing, which it must not be in CI. */
function library(): string | null {
  for (const entry of ['x86_64-linux-gnu', 'aarch64-linux-gnu']) {
    const found = join('/usr/lib', entry, 'faketime')
    try {
      if (readdirSync(found).includes('libfaketimeMT.so.1')) return join(found, 'libfaketimeMT.so.1')
    } catch {
      // not this one
    }
  }
  if (process.env.CI && process.platform === 'linux') throw new Error('libfaketime is missing')
  return null
}

const faketime = library()
let mailbox: Mailbox
beforeAll(async () => {
  writeFileSync(offset, '+0')
  if (faketime === null) return
  // monotonic time goes on as ever, as it does when an administrator or NTP sets a clock
  mailbox = await Mailbox.start({
    LD_PRELOAD: faketime,
    FAKETIME_TIMESTAMP_FILE: offset,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  })
})
afterAll(async () => {
  await mailbox?.[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

test.if(faketime !== null)(`${JUMPS} jumps`, async () => {
  const ann = await Caller.make(mailbox, fresh('ann'))
  const bob = await Caller.make(mailbox, fresh('bob'))
  const address = await ann.address()
  const ids: string[] = []
  let cursor: string | undefined
  const seen: string[] = []
  for (let jump = 0; jump < JUMPS; jump++) {
    const days = (random.below(2) ? 1 : -1) * random.pick([1 / 24, 1, 40, 4_000])
    writeFileSync(offset, `${days < 0 ? '-' : '+'}${Math.round(Math.abs(days) * 86_400)}`)
    for (let of = 0; of < 5; of++) {
      const letter = { body: `${jump}.${of}`, idempotency_key: `k${jump}.${of}` }
      const { message_id, created_at_unix_ms } = await ann.send(bob.id, letter)
      ids.push(message_id)
      expect(Math.abs(created_at_unix_ms - Date.now() - days * 86_400_000)).toBeLessThan(600_000)
      // the same again is the same, however long ago the clock says that was
      expect(await ann.send(bob.id, letter)).toMatchObject({ message_id, duplicate: true })
    }
    const page = await bob.ask('inbox', { limit: 100, ...(cursor ? { cursor } : {}) })
    for (const one of page.messages) {
      expect(one.age_secs).toBeGreaterThanOrEqual(0)
      seen.push(one.message_id)
    }
    cursor = page.cursor
    // a wait takes as long as it was asked to, not until a date
    const waitBegan = performance.now()
    const waiting = bob.ask('inbox', { wait_secs: 1, cursor })
    await Bun.sleep(100)
    writeFileSync(offset, `${days < 0 ? '+' : '-'}${random.below(100) * 86_400}`)
    expect((await waiting).messages).toEqual([])
    expect(performance.now() - waitBegan).toBeGreaterThan(900)
    expect(performance.now() - waitBegan).toBeLessThan(30_000)
    // the same process is the same session
    expect(await ann.address()).toBe(address)
    if (jump % 3 === 2) await bob.ask('ack', { message_ids: ids.slice(-2) })
  }
  writeFileSync(offset, '+0')
  expect(seen).toEqual(ids)
  for (const message_id of ids) await bob.ask('get', { message_id, peek: true })
  const { participants } = await ann.ask('directory')
  const own = participants.find(({ id }: { id: string }) => id === ann.id)
  expect(own.sessions).toMatchObject([{ live: true }])
  await mailbox.down()
  await mailbox.up()
  for (const message_id of ids) await bob.ask('get', { message_id, peek: true })
  report({
    suite: 'clock-jumps',
    topic: 'faults',
    what: 'the clock jumps by an hour to eleven years in both directions, while letters are sent, read, awaited and acknowledged',
    run: 'M4A_KEEP_RESULTS=1 M4A_JUMPS=60 M4A_SEED=9 node src/bun.mjs test test/e2e/clock-jumps.test.ts',
    seconds: (performance.now() - began) / 1000,
    cases: { count: ids.length, what: 'letters' },
    seeds: [random.seed],
    faults: { 'clock jump': 2 * JUMPS },
    load: null,
    lost: 0,
    wrong: 0,
    figures: {},
  })
})
