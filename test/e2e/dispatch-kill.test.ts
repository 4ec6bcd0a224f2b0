// kill -9 of the mailbox at each step of a dispatch, and at any time: never two agents at work for one lease, nothing lost.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { addAgent, atWork, done, notes } from './support/agents.ts'
import { Mailbox } from './support/mailbox.ts'

const ROUNDS = Number(process.env.M4A_KILLS ?? 8)
const AGENTS = ['a0', 'a1', 'a2'] as const
const ENV = { SLOW_MS: '300' }

let mailbox: Mailbox
const folders = new Map<string, string>()
const asked: { id: number; agent: string }[] = []

beforeAll(async () => {
  mailbox = await Mailbox.start(ENV)
  for (const agent of AGENTS) {
    await mailbox.account(agent)
    folders.set(agent, await addAgent(mailbox, agent, ['slow']))
  }
})
afterAll(() => mailbox[Symbol.asyncDispose]())

let serial = 0
async function dispatch(agent: string): Promise<number> {
  const request = { to: agent, subject: 's', body: `work ${serial++}`, dispatch: 'resume' }
  const { status, body } = await mailbox.post('/mail/send', mailbox.operatorKey, request)
  expect(status).toBe(200)
  const { id } = body.dispatch as { id: number }
  asked.push({ id, agent })
  return id
}

async function killAndRestart(): Promise<void> {
  await mailbox.down('SIGKILL')
  await mailbox.up(ENV)
}

/** Looks without a pause, so that the kill comes within a fraction of a millisecond of the step. */
async function reached(step: () => boolean): Promise<void> {
  for (const end = performance.now() + 20_000; !step(); await new Promise((resolve) => setImmediate(resolve)))
    if (performance.now() > end) throw new Error('the step was not reached')
}

const attempt = (id: number, name: string) => () => existsSync(join(mailbox.data, 'dispatch', String(id), '1', name))

/** What is on the disk once a dispatch has come so far. */
const STEPS: [string, (id: number, agent: string) => () => boolean][] = [
  ['it is queued', () => () => true],
  ['its folder is made, nothing is started', (id) => attempt(id, '')],
  ['all is written down, nothing is started', (id) => attempt(id, 'spec.json')],
  ['it is started and claimed, and not written down as started', (id) => attempt(id, 'claim')],
  ['its output is open', (id) => attempt(id, 'out')],
  [
    'the agent works',
    (id, agent) => () => notes(folders.get(agent) ?? '', 'begin').some((line) => line.startsWith(`begin ${id} `)),
  ],
  ['the agent has ended, and that is not written down', (id) => attempt(id, 'exit.json')],
]

test.each(STEPS)(
  'killed when %s',
  async (_, step) => {
    const [agent] = AGENTS
    const id = await dispatch(agent)
    await reached(step(id, agent))
    await killAndRestart()
    expect((await done(mailbox, id)).dispatch.outcome).toBe('replied')
  },
  90_000,
)

test(
  `${ROUNDS} kills at any time, with dispatches waiting for three agents`,
  async () => {
    for (let round = 0; round < ROUNDS; round++) {
      for (const agent of AGENTS) for (let more = 0; more < 2; more++) await dispatch(agent)
      await Bun.sleep(Math.random() * 1_200)
      await killAndRestart()
    }
  },
  ROUNDS * 20_000,
)

test('all of them were done, each by one run at a time, and nothing is left', async () => {
  const runs = new Set<string>()
  for (const { id } of asked) {
    const { dispatch, attempts } = await done(mailbox, id, 120_000)
    expect({ id, outcome: dispatch.outcome }).toEqual({ id, outcome: 'replied' })
    for (const { run, pid } of attempts) if (pid !== null) runs.add(run)
  }
  for (const agent of AGENTS) {
    const cwd = folders.get(agent) ?? ''
    expect(notes(cwd, 'OVERLAP')).toEqual([])
    const begun = notes(cwd, 'begin').map((line) => line.split(' ')[2] ?? '')
    // each run began once, and none that the mailbox does not know of
    expect(begun.filter((run, at) => begun.indexOf(run) !== at)).toEqual([])
    for (const run of begun) expect(runs.has(run)).toBe(true)
  }
  for (let tries = 0; atWork(mailbox).length > 0 && tries < 50; tries++) await Bun.sleep(100)
  expect(atWork(mailbox)).toEqual([])
}, 200_000)

test('one that runs goes on when the mailbox stops in order, and is watched by the next one', async () => {
  const [agent] = AGENTS
  const id = await dispatch(agent)
  await reached(() => notes(folders.get(agent) ?? '', 'begin').some((line) => line.startsWith(`begin ${id} `)))
  expect((await mailbox.down()).ms).toBeLessThan(3_000)
  expect(atWork(mailbox).length).toBeGreaterThan(0)
  await mailbox.up(ENV)
  expect((await done(mailbox, id)).dispatch.outcome).toBe('replied')
}, 60_000)

test('its attendant killed: what it attended is ended, and done again', async () => {
  const [agent] = AGENTS
  const id = await dispatch(agent)
  await reached(() => notes(folders.get(agent) ?? '', 'begin').some((line) => line.startsWith(`begin ${id} `)))
  const claim = await Bun.file(join(mailbox.data, 'dispatch', String(id), '1', 'claim')).json()
  process.kill(claim.pid, 'SIGKILL')
  const { dispatch: shown, attempts } = await done(mailbox, id)
  expect(shown.outcome).toBe('replied')
  expect(['crashed', 'replied']).toContain(attempts[0]?.cause ?? '')
  expect(notes(folders.get(agent) ?? '', 'OVERLAP')).toEqual([])
}, 60_000)
