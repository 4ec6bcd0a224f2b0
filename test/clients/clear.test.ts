// /clear in a real Claude Code: another session to Claude, the same one to its mail; and who resumes which of the two has what.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Json, text } from '../support/json.ts'
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model.ts'
import { type Agent, prepareAgent, type Running, startAgent } from './agent.ts'
import { tools } from './mail.ts'
import { type Mailbox, startMailbox } from './mailbox.ts'
import { SERVER } from './recipe.ts'
import { startInTerminal } from './terminal.ts'

/** Installing a client and starting it cold, in milliseconds. */
const START = 300_000

let mailbox: Mailbox
let model: ScriptedModel
let writer: Running
const opened: { close(): Promise<void> }[] = []

const door = (account: string) =>
  ({ kind: 'http', url: `${mailbox.url}/mcp`, token: readFileSync(mailbox.tokenFile(account), 'utf8') }) as const

beforeAll(async () => {
  mailbox = await startMailbox()
  model = startScriptedModel()
  for (const account of ['ada', 'ben']) await mailbox.account(account)
  writer = await startAgent('claude', model, door('ben'))
  opened.push(writer)
}, START)
afterAll(async () => {
  for (const agent of opened) await agent.close()
  await model?.close()
  await mailbox?.stop()
}, START)

async function self(agent: Agent) {
  const { address_text, card } = await tools(agent).whoami()
  const { provider_session_id: session, conversation, sources } = card?.corroborated ?? {}
  expect([conversation, sources?.conversation]).toEqual([session, 'record'])
  return { address_text, session: session ?? '' }
}

const letter = async (to: string) =>
  (await tools(writer).send({ to, subject: 'for this session', body: 'wait for it' })).message_id
const ids = async (agent: Agent) => (await tools(agent).inbox()).messages.map(({ message_id }) => message_id)

test(
  'a cleared session keeps its mail under another id of Claude’s; the one that it was is resumed without it',
  async () => {
    const agent = await prepareAgent('claude', model, door('ada'))
    const live = startInTerminal(agent, ['--allowedTools', `mcp__${SERVER}`])
    opened.push(live)
    /** What Claude itself has written down of that very process. */
    const recorded = (): string => {
      const record: Json = JSON.parse(readFileSync(join(live.home, '.claude', 'sessions', `${live.pid}.json`), 'utf8'))
      return text(record, 'sessionId')
    }
    await live.shows('❯')
    // it takes prompts before its servers are there
    for (let tries = 0; tries < 20; tries++) {
      await live.type('follow the script')
      if ((await live.script.tools()).includes(`mcp__${SERVER}__m4a_mail_whoami`)) break
      await live.say('not yet')
      await Bun.sleep(500)
    }
    const before = await self(live)
    expect(before.session).toBe(recorded())
    const first = await letter(before.address_text)
    await live.say('done')

    await live.type('/clear')
    for (let tries = 0; recorded() === before.session && tries < 100; tries++) await Bun.sleep(100)
    await Bun.sleep(1_000)
    await live.type('go on')
    const after = await self(live)
    expect(after.session).toBe(recorded())
    expect(after.session).not.toBe(before.session)
    expect(after.address_text).toBe(before.address_text)
    expect(await ids(live)).toEqual([first])
    await live.say('done')
    await live.type('/exit')
    expect(await live.exited).toBe(0)
    const missed = await letter(before.address_text)

    const resume = async (session: string) => {
      const again = await startAgent('claude', model, door('ada'), { again: { home: live.home, session } })
      opened.push(again)
      return again
    }
    const old = await resume(before.session)
    expect((await tools(old).whoami()).card?.corroborated.provider_session_id).toBe(before.session)
    expect(await ids(old)).toEqual([])
    expect(await old.toolText('m4a_mail_get', { message_id: first })).toContain('unknown_message')
    expect(await old.finish()).toBe(0)
    const next = await resume(after.session)
    expect(await ids(next)).toEqual([first, missed])
    expect(await next.finish()).toBe(0)
  },
  START,
)
