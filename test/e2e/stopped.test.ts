// Processes that are stopped (SIGSTOP) and clients that flood, dawdle or hold their connections open: the mailbox and everybody else
// go on, memory stays bounded, and a mailbox that was stopped itself goes on as if nothing had been.
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { report } from '../support/results.ts'
import { Caller, fresh, storedMessages } from './support/caller.ts'
import { Mailbox } from './support/mailbox.ts'
import { Raw } from './support/raw.ts'
import { Wire } from './support/wire.ts'

setDefaultTimeout(180_000)

const STOPS = Number(process.env.M4A_STOPS ?? 2)
const FLOOD_MS = Number(process.env.M4A_FLOOD_MS ?? 4_000)

const opened: (() => unknown)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})
async function mailboxOf(): Promise<Mailbox> {
  const mailbox = await Mailbox.start()
  opened.push(() => mailbox[Symbol.asyncDispose]())
  return mailbox
}

test.if(process.platform === 'linux')('a mailbox that is stopped for longer than it waits for its disk', async () => {
  const began = performance.now()
  const mailbox = await mailboxOf()
  const token = await mailbox.account('ann')
  const wires = await Wire.many(mailbox.port, 16)
  opened.push(() => wires.map((wire) => wire.cut()))
  let over = false
  let serial = 0
  const acknowledged: string[] = []
  const refused: object[] = []
  const senders = wires.map(async (wire) => {
    while (!over) {
      const { status, body } = await wire.post('/mail/send', token, {
        to: 'operator',
        subject: 's',
        body: `b${serial++}`,
      })
      if (status === 200) acknowledged.push(body.message_id)
      else refused.push(body)
    }
  })
  for (let stop = 0; stop < STOPS; stop++) {
    const before = acknowledged.length
    for (const end = performance.now() + 30_000; acknowledged.length < before + 100 && performance.now() < end; )
      await Bun.sleep(5)
    mailbox.daemon.kill('SIGSTOP')
    await Bun.sleep(stop === 0 ? 12_000 : 500)
    mailbox.daemon.kill('SIGCONT')
  }
  const before = acknowledged.length
  for (const end = performance.now() + 60_000; acknowledged.length < before + 100 && performance.now() < end; )
    await Bun.sleep(5)
  over = true
  await Promise.all(senders)
  // its disk was well all the time
  expect(refused.filter((one) => !/rate_limited/.test(JSON.stringify(one)))).toEqual([])
  expect(acknowledged.length).toBeGreaterThan(before)
  expect(await storedMessages(mailbox)).toBeGreaterThanOrEqual(acknowledged.length)
  for (const message_id of acknowledged.slice(-300))
    expect((await mailbox.post('/mail/get', mailbox.operatorKey, { message_id, peek: true })).status).toBe(200)
  report({
    suite: 'stopped',
    topic: 'faults',
    what: 'SIGSTOP and SIGCONT of the mailbox in the middle of commits, once for longer than it waits for a disk',
    run: 'M4A_KEEP_RESULTS=1 M4A_STOPS=20 M4A_FLOOD_MS=30000 node src/bun.mjs test test/e2e/stopped.test.ts',
    seconds: (performance.now() - began) / 1000,
    cases: { count: acknowledged.length, what: 'sends' },
    seeds: [],
    faults: { SIGSTOP: STOPS },
    load: '16 connections',
    lost: 0,
    wrong: 0,
    figures: {},
  })
})

const resident = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024

test.if(process.platform === 'linux')(
  'a stopped reader of /events, a stopped wait, half-open and flooding clients',
  async () => {
    const began = performance.now()
    const mailbox = await mailboxOf()
    const ann = await Caller.make(mailbox, fresh('ann'))
    const bob = await Caller.make(mailbox, fresh('bob'))
    const operator = Caller.operator(mailbox)

    // processes that ask and then stand still, their answers unread
    const feeds = [1, 2].map(() => {
      const curl = Bun.spawn(
        ['curl', '-sN', '-H', `Authorization: Bearer ${mailbox.operatorKey}`, `${mailbox.url}/events?since=0`],
        { stdout: 'ignore', stderr: 'ignore' },
      )
      opened.push(() => curl.kill('SIGKILL'))
      return curl
    })
    const actor = await mailbox.actor(bob.token)
    await actor.ask('http', 'whoami')
    const wait = actor.call({ door: 'http', op: 'inbox', request: { wait_secs: 60 } })
    await Bun.sleep(500)
    for (const feed of feeds) feed.kill('SIGSTOP')
    process.kill(actor.pid, 'SIGSTOP')

    // connections that say half a request, or nothing, or a body byte by byte, or garbage as fast as it goes
    const head = `POST /mail/send HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${ann.token}\r\nContent-Type: application/json\r\n`
    const raws = Array.from({ length: 120 }, () => new Raw({ port: mailbox.port }))
    opened.push(() => raws.map((raw) => raw.close()))
    for (const [index, raw] of raws.entries()) {
      if (index % 3 === 0) raw.write(head)
      if (index % 3 === 1) raw.write(`${head}Content-Length: 1000000\r\n\r\n{"to":"`)
    }
    let flooding = true
    let floods = 0
    const garbage = 'x'.repeat(200_000)
    const flooders = Array.from({ length: 12 }, async (_, own) => {
      while (flooding) {
        const raw = new Raw({ port: mailbox.port })
        if (own % 3 === 0) raw.write(garbage)
        else if (own % 3 === 1) raw.write(`${head}Content-Length: 900000\r\n\r\n${' '.repeat(900_000)}`)
        else raw.write(`${head.replace(ann.token, 'nobody')}Content-Length: 2\r\n\r\n{}`)
        await raw.read((text) => text.includes('\r\n\r\n'), 2_000)
        raw.close()
        floods++
      }
    })
    opened.push(() => (flooding = false))

    const ids: string[] = []
    const before = resident(mailbox.daemon.pid)
    const times: number[] = []
    const wire = await Wire.open(mailbox.port)
    opened.push(() => wire.cut())
    for (const end = performance.now() + FLOOD_MS; performance.now() < end; ) {
      const began = performance.now()
      const { status, body } = await wire.post('/mail/send', ann.token, {
        to: bob.id,
        subject: 's',
        body: 'q'.repeat(8_000),
      })
      if (status === 200) ids.push(body.message_id)
      else expect(body.kind).toBe('rate_limited')
      times.push(performance.now() - began)
    }
    flooding = false
    await Promise.all(flooders)
    expect(floods).toBeGreaterThan(12)
    expect(ids.length).toBeGreaterThan(10)
    // who does not read is not read to: what it is owed does not pile up here
    const grown = resident(mailbox.daemon.pid) - before
    expect(grown).toBeLessThan(400 * 2 ** 20)
    expect(await operator.ask('whoami')).toMatchObject({ account: 'operator' })

    // once it goes on it has its answer, and the mail is there
    process.kill(actor.pid, 'SIGCONT')
    expect((await wait).status).toBe(200)
    for (const feed of feeds) {
      feed.kill('SIGCONT')
      feed.kill('SIGTERM')
      await feed.exited
    }
    for (const message_id of ids.slice(-100)) await bob.ask('get', { message_id, peek: true })
    times.sort((a, b) => a - b)
    report({
      suite: 'flood',
      topic: 'faults',
      what: 'stopped readers of /events and of a wait, 120 half-open connections, twelve that flood with garbage, while one sends',
      run: 'M4A_KEEP_RESULTS=1 M4A_STOPS=20 M4A_FLOOD_MS=30000 node src/bun.mjs test test/e2e/stopped.test.ts',
      seconds: (performance.now() - began) / 1000,
      cases: { count: ids.length + floods, what: 'requests' },
      seeds: [],
      faults: { 'client stopped': 3, 'half-open connection': 80, 'request of a flood': floods },
      load: '12 flooding connections',
      lost: 0,
      wrong: 0,
      figures: {
        'p50 of a send meanwhile': `${(times[times.length >> 1] ?? 0).toFixed(1)} ms`,
        'memory gained': `${Math.round(grown / 2 ** 20)} MiB`,
      },
    })
  },
)
