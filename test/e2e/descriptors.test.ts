// A mailbox that has no file descriptor left: nobody is let in unproved, every refusal says why, /health, metrics and the doctor say
// so, and nothing has to be done but to close connections.
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { report } from '../support/results.ts'
import { BINARY, Mailbox } from './support/mailbox.ts'
import { Raw } from './support/raw.ts'
import { Wire } from './support/wire.ts'

setDefaultTimeout(120_000)

const opened: (() => unknown)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

const until = async (what: () => boolean | Promise<boolean>) => {
  for (const end = performance.now() + 60_000; !(await what()); await Bun.sleep(50))
    if (performance.now() > end) throw new Error('it does not come')
}

/** All that came, once it is `answers` of them. */
const ask = async (raw: Raw, path: string, answers: number): Promise<string> => {
  raw.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`)
  return (await raw.read((text) => text.split('HTTP/1.1 ').length > answers && text.endsWith('}'))).text
}

test.if(process.platform === 'linux')('too many connections', async () => {
  const began = performance.now()
  const mailbox = await Mailbox.start()
  opened.push(() => mailbox[Symbol.asyncDispose]())
  const key = mailbox.operatorKey
  const token = await mailbox.account('ann')
  const warm = await Wire.open(mailbox.port)
  opened.push(() => warm.cut())
  const letter = (body: string) => ({ to: 'operator', subject: 's', body, idempotency_key: body })
  expect((await warm.post('/mail/send', token, letter('before'))).status).toBe(200)
  const { pid } = mailbox.daemon
  const open = () => readdirSync(`/proc/${pid}/fd`).map(Number)
  const limit = (soft: string) =>
    expect(Bun.spawnSync(['prlimit', '--pid', String(pid), `--nofile=${soft}`]).exitCode).toBe(0)
  const lookouts = Array.from({ length: 20 }, () => new Raw({ port: mailbox.port }))
  opened.push(() => lookouts.map((one) => one.close()))
  // opened before there are too many
  for (const one of lookouts) expect(await ask(one, '/openapi.json', 1)).toStartWith('HTTP/1.1 401')
  const highest = Math.max(...open())
  limit(`${highest + 10}:`)
  const crowd: Socket[] = []
  opened.push(() => crowd.map((one) => one.destroy()))
  const fill = () => {
    for (let count = 0; count < highest + 50; count++)
      crowd.push(connect(mailbox.port, '127.0.0.1').on('error', () => {}))
  }
  fill()
  await until(() => open().length >= highest + 8)

  // over what is open already: refused by name, or served; never anybody taken for somebody else
  let refusals = 0
  for (let tries = 0; tries < 30; tries++) {
    const { status, body } = await warm.post('/mail/send', token, letter(`while-${tries}`))
    if (status === 200) continue
    refusals++
    expect(body).toMatchObject({ kind: 'unreadable', message: 'the mailbox lacks file descriptors' })
    expect(body.hint).toContain('LimitNOFILE')
  }
  expect(refusals).toBeGreaterThan(0)
  let health = ''
  for (const one of lookouts) {
    fill() // what was given back meanwhile is taken again
    await Bun.sleep(200)
    health = await ask(one, '/health', 2)
    if (health.includes('HTTP/1.1 503')) break
  }
  expect(health).toContain('no file descriptor is left (EMFILE)')
  const doctor = Bun.spawnSync([BINARY, 'doctor', '--json', '--data-dir', mailbox.data], {
    env: { PATH: process.env.PATH ?? '', HOME: mailbox.root, M4A_RECOGNISED_AGENTS: '' },
  })
  const { findings } = JSON.parse(doctor.stdout.toString()) as {
    findings: { check: string; level: string; what: string }[]
  }
  const found = findings.find(({ check }) => check === 'mailbox')
  expect(found).toMatchObject({ level: 'fail', what: expect.stringContaining('so it takes no more') })

  for (const one of crowd) one.destroy()
  await until(() => open().length < highest)
  await until(async () => (await fetch(`${mailbox.url}/health`)).ok)
  expect((await mailbox.post('/mail/send', token, letter('before'))).body.duplicate).toBe(true)
  for (let of = 0; of < 30; of++)
    expect((await mailbox.post('/mail/send', token, letter(`while-${of}`))).status).toBe(200)
  const { messages } = (await mailbox.post('/mail/inbox', key, { limit: 100 })).body as {
    messages: { body: string; from: object }[]
  }
  const bodies = messages.map(({ body }) => body).filter((body) => /^(before|while)/.test(body))
  expect([bodies.length, new Set(bodies).size]).toEqual([31, 31])
  // the operator was told in a letter, since the store could be written all the time
  await until(async () => {
    const told = await mailbox.post('/mail/search', key, { query: '"no file descriptor"' })
    return (told.body.messages as object[]).length === 1
  })
  report({
    suite: 'descriptors',
    topic: 'faults',
    what: 'no file descriptor left (prlimit), with more connections than it may have',
    run: 'M4A_KEEP_RESULTS=1 node src/bun.mjs test test/e2e/descriptors.test.ts',
    seconds: (performance.now() - began) / 1000,
    cases: { count: 31, what: 'sends' },
    seeds: [],
    faults: { EMFILE: refusals },
    load: `${crowd.length} idle connections`,
    lost: 0,
    wrong: 0,
    figures: { 'refused by name': refusals },
  })
})
