// Damage on the disk: a write-ahead log with changed bytes, pages of the store and of the search index overwritten. Never a letter
// that is silently gone or changed: it is there, or the mailbox says that its store is damaged, everywhere, and a restore mends it.
import { afterAll, afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Random, seedFrom } from '../support/random.ts'
import { report } from '../support/results.ts'
import { BINARY, Mailbox } from './support/mailbox.ts'
import { closeAfterEach, refused, serve } from './support/serve.ts'
import { Wire } from './support/wire.ts'

closeAfterEach()

setDefaultTimeout(240_000)

const ROUNDS = Number(process.env.M4A_DAMAGES ?? 4)
const random = new Random(seedFrom(1))
const PAGE = 4096
const FRAME = PAGE + 24

const began = performance.now()
const told = { letters: 0, lost: 0, wrong: 0, log: 0, pages: 0, index: 0, refusedStarts: 0, said: 0 }
afterAll(() =>
  report({
    suite: 'damage',
    topic: 'faults',
    what: 'bytes of the log, pages of the store and of the search index overwritten under a mailbox that was killed or stopped',
    run: 'M4A_KEEP_RESULTS=1 M4A_DAMAGES=40 M4A_SEED=7 node src/bun.mjs test test/e2e/damage.test.ts',
    seconds: (performance.now() - began) / 1000,
    cases: { count: told.letters, what: 'letters' },
    seeds: [random.seed],
    faults: { 'byte of the log': told.log, 'page of the store': told.pages, 'page of the index': told.index },
    load: '4 senders',
    lost: told.lost,
    wrong: told.wrong,
    figures: { 'starts refused by name': told.refusedStarts, 'reads refused by name': told.said },
  }),
)

const opened: Mailbox[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one[Symbol.asyncDispose]()
})
async function mailboxOf(): Promise<Mailbox> {
  const mailbox = await Mailbox.start()
  opened.push(mailbox)
  return mailbox
}

const text = (of: number) => `letter${of} ${'words of it '.repeat(of % 200)}`
/** Letters to the operator; the ids of all that were acknowledged, by number. */
async function write(
  mailbox: Mailbox,
  token: string,
  count: number,
  ids = new Map<number, string>(),
): Promise<Map<number, string>> {
  const wires = await Wire.many(mailbox.port, 4)
  const first = ids.size
  await Promise.all(
    wires.map(async (wire, own) => {
      for (let of = first + own; of < first + count; of += wires.length) {
        const letter = { to: 'operator', subject: `s${of}`, body: text(of) }
        const { status, body } = await wire.post('/mail/send', token, letter)
        if (status === 200) ids.set(of, body.message_id)
      }
      wire.cut()
    }),
  )
  told.letters += count
  return ids
}

type Read = 'whole' | 'said' | 'lost' | 'changed'
async function read(mailbox: Mailbox, of: number, message_id: string): Promise<Read> {
  const { status, body } = await mailbox.post('/mail/get', mailbox.operatorKey, { message_id, peek: true })
  if (status === 200) return body.body === text(of) ? 'whole' : 'changed'
  return body.kind === 'damaged_store' ? 'said' : 'lost'
}
async function readAll(mailbox: Mailbox, ids: Map<number, string>): Promise<Record<Read, number>> {
  const all = { whole: 0, said: 0, lost: 0, changed: 0 }
  for (const [of, id] of ids) all[await read(mailbox, of, id)]++
  told.said += all.said
  return all
}

const health = async (mailbox: Mailbox) => (await fetch(`${mailbox.url}/health`)).json() as Promise<Record<string, any>>
const start = async (mailbox: Mailbox) => {
  const answer = await refused(mailbox.root, '--data-dir', mailbox.data, '--port', '0')
  if (answer.kind === 'damaged_store') told.refusedStarts++
  return answer
}
/** How far into the log the last two commits begin: nobody can tell damage in them from a write that was cut off. */
function lastCommits(log: Buffer): number {
  const ends: number[] = []
  for (let at = 32; at + FRAME <= log.length; at += FRAME)
    if (log.readUInt32BE(at + 8) === log.readUInt32BE(16) && log.readUInt32BE(at + 4) !== 0) ends.push(at + FRAME)
  return ends.at(-3) ?? 32
}

test('a byte of the log changed behind a killed mailbox: the start is refused by name, and with the log as it was all is there', async () => {
  const mailbox = await mailboxOf()
  const token = await mailbox.account('ann')
  const ids = new Map<number, string>()
  for (let round = 0; round < ROUNDS; round++) {
    await write(mailbox, token, 40, ids)
    await mailbox.down('SIGKILL')
    const path = join(mailbox.data, 'mail.sqlite-wal')
    const log = readFileSync(path)
    const bytes = Buffer.from(log)
    const at = random.pick([random.below(12), 16 + random.below(8), 32 + random.below(lastCommits(log) - 32)])
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8))
    writeFileSync(path, bytes)
    told.log++
    const answer = await start(mailbox)
    expect([at, answer.exit, answer.kind]).toEqual([at, 1, 'damaged_store'])
    expect(answer.message).toContain(path)
    expect(readFileSync(path).equals(bytes)).toBe(true)

    // what a crash leaves behind the last commit is none of it
    writeFileSync(path, Buffer.concat([log, random.bytes(random.below(3 * FRAME))]))
    await mailbox.up()
  }
  const all = await readAll(mailbox, ids)
  told.lost += ids.size - all.whole
  expect(all).toEqual({ whole: ids.size, said: 0, lost: 0, changed: 0 })
})

test('pages of the search index: it is made again from the letters, whether the mailbox runs or not', async () => {
  const mailbox = await mailboxOf()
  const token = await mailbox.account('ann')
  const ids = await write(mailbox, token, 300)
  const path = join(mailbox.data, 'search.sqlite')
  const found = async (of: number) => {
    const { status, body } = await mailbox.post('/mail/search', mailbox.operatorKey, { query: `letter${of}` })
    return [status, (body.messages as { message_id: string }[] | undefined)?.map(({ message_id }) => message_id)]
  }
  for (let round = 0; round < ROUNDS; round++) {
    const of = random.below(ids.size)
    expect(await found(of)).toEqual([200, [ids.get(of)!]])
    await mailbox.down()
    const damage = () => {
      for (const file of [path, `${path}-wal`].filter((one) => existsSync(one))) {
        const bytes = readFileSync(file)
        for (let page = random.below(2); page < bytes.length / PAGE; page++) random.bytes(64).copy(bytes, page * PAGE)
        writeFileSync(file, bytes)
      }
      told.index++
    }
    if (round % 2 === 0) damage()
    await mailbox.up()
    if (round % 2 === 1) damage()
    await write(mailbox, token, 4, ids)
    for (const one of [of, ids.size - 1, random.below(ids.size)])
      expect(await found(one)).toEqual([200, [ids.get(one)!]])
    expect(await health(mailbox)).toMatchObject({ ok: true })
  }
})

test('pages of the store: each letter is read as it was written or refused by name, nothing more is taken, and a backup mends it', async () => {
  const mailbox = await mailboxOf()
  const token = await mailbox.account('ann')
  const ids = await write(mailbox, token, 300)
  const { path: backup } = (await mailbox.admin('backup', { name: 'good' })) as { path: string }
  const store = join(mailbox.data, 'mail.sqlite')
  await mailbox.down()
  const good = `${store}.good`
  copyFileSync(store, good)
  for (let round = 0; round < ROUNDS; round++) {
    const bytes = readFileSync(good)
    const pages = bytes.length / PAGE
    // one page or a few, from the first to the last of them, all garbage or nothing
    for (let count = 1 + random.below(4); count > 0; count--) {
      const page = 1 + random.below(pages - 1)
      const what = random.pick([random.bytes(PAGE), Buffer.alloc(PAGE), Buffer.alloc(PAGE, 0xff)])
      what.copy(bytes, page * PAGE)
      told.pages++
    }
    writeFileSync(store, bytes)
    try {
      await mailbox.up()
    } catch (error) {
      expect(String(error)).toContain('the store cannot be read')
      told.refusedStarts++
      continue
    }
    const all = await readAll(mailbox, ids)
    told.wrong += all.changed
    expect(all).toMatchObject({ changed: 0 })
    const inbox = await mailbox.post('/mail/inbox', mailbox.operatorKey, { limit: 256, max_bytes: 1_000_000 })
    if (inbox.status !== 200) expect(inbox.body.kind).toBe('damaged_store')
    if (all.said > 0) {
      expect(await health(mailbox)).toMatchObject({ ok: false, store: { reason: expect.stringContaining('damaged') } })
      const sent = await mailbox.post('/mail/send', token, { to: 'operator', subject: 's', body: 'b' })
      expect(sent).toMatchObject({
        status: 500,
        body: { kind: 'damaged_store', hint: expect.stringContaining('restore') },
      })
    }
    await mailbox.down('SIGKILL')
    for (const suffix of ['-wal', '-shm']) rmSync(store + suffix, { force: true })
  }
  const restored = Bun.spawnSync([BINARY, 'admin', 'restore', backup, '--data-dir', mailbox.data], {
    env: { PATH: process.env.PATH ?? '', HOME: mailbox.root },
  })
  expect([restored.stderr.toString(), restored.exitCode]).toEqual(['', 0])
  await mailbox.up()
  const all = await readAll(mailbox, ids)
  told.lost += ids.size - all.whole
  expect(all).toEqual({ whole: ids.size, said: 0, lost: 0, changed: 0 })
})

test('behind a kill every page is looked at, so that damage is told before anybody meets it', async () => {
  const mailbox = await mailboxOf()
  const token = await mailbox.account('ann')
  const ids = await write(mailbox, token, 300)
  await mailbox.down() // all of it is in the store now, and none in its log
  await mailbox.up()
  await write(mailbox, token, 4, ids)
  await mailbox.down('SIGKILL')
  const store = join(mailbox.data, 'mail.sqlite')
  const bytes = readFileSync(store)
  const page = Math.floor(bytes.indexOf(text(150)) / PAGE)
  expect(page).toBeGreaterThan(0)
  bytes.fill(0xff, page * PAGE, (page + 1) * PAGE)
  writeFileSync(store, bytes)
  told.pages++
  const argv = [BINARY, 'serve', '--data-dir', mailbox.data, '--port', '0']
  let port = 0
  try {
    port = (await serve(argv, mailbox.data, mailbox.root)).port
  } catch (error) {
    // it may be a page that the start itself reads
    expect(String(error)).toContain('the store cannot be read')
  }
  let seen: Record<string, any> = {}
  for (let tries = 0; port > 0 && seen.ok !== false && tries < 400; tries++) {
    seen = (await (await fetch(`http://127.0.0.1:${port}/health`)).json()) as Record<string, any>
    await Bun.sleep(50)
  }
  if (port > 0)
    expect(seen).toMatchObject({ ok: false, store: { ok: false, reason: expect.stringContaining('damaged') } })
  const doctor = Bun.spawnSync([BINARY, 'doctor', '--json', '--data-dir', mailbox.data], {
    env: { PATH: process.env.PATH ?? '', HOME: mailbox.root, M4A_RECOGNISED_AGENTS: '' },
  })
  const { findings } = JSON.parse(doctor.stdout.toString()) as {
    findings: { check: string; level: string; what: string }[]
  }
  const failed = findings.filter(({ level, what }) => level === 'fail' && what.includes('damaged'))
  expect(failed.length).toBeGreaterThan(0)
})
