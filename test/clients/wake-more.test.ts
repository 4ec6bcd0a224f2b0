// The clients and doors beside the first ones: Grok, Kimi and `opencode serve` are woken through their own doors; Gemini and Copilot have none for an idle session.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { dig, type Json, list, strings, text } from '../support/json.ts'
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model.ts'
import type { Prepared } from './agent.ts'
import { freePort, type Home, makeHome } from './home.ts'
import type { AnyClient } from './install.ts'
import { startKimiWeb } from './kimi-web.ts'
import { tools } from './mail.ts'
import { startOpencodeServe } from './opencode-serve.ts'
import { consent, startOnScreen } from './screen.ts'
import type { Terminal } from './terminal.ts'

const START = 600_000
const PATIENCE = 60_000
/** Those that are tried without a screen. */
const SERVERS: Partial<Record<AnyClient, (agent: Prepared, port: number) => Promise<{ end(): Promise<void> }>>> = {
  kimi: startKimiWeb,
  opencode: startOpencodeServe,
}

let model: ScriptedModel
let home: Home
let agent: Prepared
let ending: (() => Promise<void>)[] = []

beforeAll(() => {
  model = startScriptedModel()
})
afterAll(async () => model?.close())
beforeEach(() => {
  ending = []
})
afterEach(async () => {
  for (const end of ending.reverse()) await end()
}, START)

const json = async (...words: string[]): Promise<Json> => {
  const ran = await home.m4a(...words, '--json')
  if (ran.code !== 0) throw new Error(`${words.join(' ')}: ${ran.err}`)
  return JSON.parse(ran.out)
}
const send = async (client: string, subject: string): Promise<string> =>
  text(await json('send', client, subject, 'the body of it', '--as', 'pat'), 'message_id')
const shown = (): string => strings(agent.script.log.at(-1)?.body).join('\n')

async function until(what: string, test: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = performance.now() + PATIENCE; !(await test()); await Bun.sleep(20)) {
    agent.gone.signal.throwIfAborted()
    if (performance.now() > end) throw new Error(`${what} did not come`)
  }
}
/** What became of the wake for that letter. */
async function wakeFor(client: string, id: string): Promise<Json> {
  let found: Json = null
  await until('the wake', async () => {
    const [status] = list(await json('wake', 'status', client), 'wakes')
    found = list(status ?? null, 'wakes').find((one) => text(one, 'message_id') === id) ?? null
    return found !== null
  })
  return found
}
const isDue = (status: Json): boolean =>
  text(status, 'state') === 'stored' && text(status, 'source') === 'turn-hook' && dig(status, 'due') === 1
async function untilReady(client: string, door: string): Promise<void> {
  await until('the door', async () =>
    list(await json('wake', 'plan', client), 'doors').some(
      (one) => text(one, 'door') === door && dig(one, 'ready') === true && dig(one, 'busy') !== true,
    ),
  )
}

/** Set up by `up`, in the middle of its first turn, with no mail left to read. */
async function begin(client: AnyClient): Promise<Terminal | null> {
  home = await makeHome([client], model)
  ending.push(() => home.close())
  agent = await home.prepare(client)
  consent(agent)
  expect(await home.m4a('up', '--yes', '--no-service', '--only', client)).toMatchObject({ code: 0 })
  const serve = SERVERS[client]
  const terminal = serve ? null : startOnScreen(agent)
  const running = terminal ?? (await serve?.(agent, freePort()))
  ending.push(async () => running?.end())
  // Grok takes prompts before its servers are there
  for (const end = performance.now() + PATIENCE; ; await Bun.sleep(300)) {
    if ((await agent.toolText('m4a_mail_whoami')).startsWith('{')) break
    if (performance.now() > end) throw new Error('its server did not come up')
  }
  for (const { message_id } of (await tools(agent).inbox()).messages) await tools(agent).ack(message_id)
  return terminal
}

test.each([
  ['grok', 'grok-leader'],
  ['kimi', 'kimi-server'],
  ['opencode', 'opencode-server'],
] as const)(
  '%s: idle, its door starts a turn, and the agent reads and answers; at work it queues; a closed door is passed by and says why',
  async (client, door) => {
    await begin(client)
    if (client === 'opencode') expect((await home.m4a('wake', 'disable', client, 'opencode-plugin')).code).toBe(0)
    await agent.say('done')
    await untilReady(client, door)
    const before = agent.script.log.length
    const id = await send(client, 'a question')
    const from = performance.now()
    await until('the turn', () => agent.script.log.slice(before).some(({ body }) => strings(body).join().includes(id)))
    const ms = Math.round(performance.now() - from)
    expect((await tools(agent).get(id)).body).toBe('the body of it')
    const answer = await tools(agent).send({ reply_to: id, close: true, body: 'an answer' })
    await agent.say('done')
    expect(JSON.stringify(await json('view', answer.message_id, '--as', 'pat'))).toContain('an answer')
    const wake = await wakeFor(client, id)
    expect(wake).toMatchObject({ count: 1, outcome: 'started', door })
    console.info(`${client}: ${door}: ${dig(wake, 'ms')} ms to the turn, model asked ${ms} ms after the send`)

    // in the middle of a turn that another prompt began
    await untilReady(client, door)
    const first = await send(client, 'to work on')
    await until('the turn', () => strings(agent.script.log.at(-1)?.body).join().includes(first))
    await tools(agent).ack(first)
    const late = await send(client, 'while at work')
    expect(await wakeFor(client, late)).toMatchObject({ outcome: 'queued', door })
    await agent.say('done')
    await until('its turn', () => strings(agent.script.log.at(-1)?.body).join().includes(late))
    await tools(agent).ack(late)
    await agent.say('done')

    await untilReady(client, door)
    expect((await home.m4a('wake', 'disable', client, door)).code).toBe(0)
    const kept = await send(client, 'through another door')
    const passed = await wakeFor(client, kept)
    const tried = list(passed, 'tried').find((one) => text(one, 'door') === door)
    expect(tried).toMatchObject({ door, outcome: null, detail: 'switched off by the policy' })
    expect(text(passed, 'outcome')).toBe(client === 'grok' ? 'no_door' : 'stored')
  },
  START,
)

test.each(['gemini', 'copilot'] as const)(
  '%s: idle, the letter is stored and no turn is said to have begun; its hooks tell it at the next prompt, and at the end of a turn',
  async (client) => {
    const terminal = await begin(client)
    await agent.say('done')
    await Bun.sleep(2_000)
    const quiet = agent.script.log.length
    const first = await send(client, 'while idle')
    // the same outcome as before is not written down again: what the account's last state is counts
    await until('the state', async () => isDue(list(await json('wake', 'status', client), 'wakes')[0] ?? null))
    expect(agent.script.log.length).toBe(quiet)
    await terminal?.type('go on')
    await until('the turn', () => agent.script.log.length > quiet && shown().includes('new letter'))
    expect((await tools(agent).inbox()).messages.map(({ message_id }) => message_id)).toEqual([first])
    await tools(agent).ack(first)

    const late = await send(client, 'while at work')
    const turn = agent.script.log.length
    await agent.say('done')
    await until('what its hook says', () => agent.script.log.length > turn && shown().includes('new letter'))
    expect((await tools(agent).inbox()).messages.map(({ message_id }) => message_id)).toEqual([late])
    await agent.say('done')
  },
  START,
)
