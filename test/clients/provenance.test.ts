// What the card of a real client says of it, and where each fact is from; its bridge and its shell act as it, and not as a person.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model.ts'
import { type Running, startAgent } from './agent.ts'
import type { AnyClient } from './install.ts'
import { cli, tools } from './mail.ts'
import { type Mailbox, OPERATOR, startMailbox } from './mailbox.ts'
import { exeOf, isBelow } from './proc.ts'

/** Installing a client and starting it cold, in milliseconds. */
const START = 300_000

let mailbox: Mailbox
let model: ScriptedModel
const opened: Running[] = []

beforeAll(async () => {
  mailbox = await startMailbox()
  model = startScriptedModel()
  await mailbox.account('ada')
})
afterAll(async () => {
  for (const agent of opened) await agent.close()
  await model?.close()
  await mailbox?.stop()
}, START)

/**
 * The model that each shows of itself, and where. Kimi writes its title over its arguments. None was started with a session,
 * and none names one to its servers: opencode's `_meta` holds a progress token and nothing else.
 */
const SHOWN: [AnyClient, model: string | null, source: string | null][] = [
  ['gemini', 'gemini-2.5-flash', 'argv'],
  ['qwen', 'scripted', 'environ'],
  ['kimi', null, null],
  ['grok', 'scripted', 'argv'],
  ['copilot', 'scripted', 'environ'],
  ['opencode', null, null],
]

test.each(SHOWN)(
  '%s',
  async (client, shown, source) => {
    const env = { M4A_DATA_DIR: mailbox.dataDir, M4A_TOKEN_FILE: mailbox.tokenFile('ada') }
    const agent = await startAgent(client, model, { kind: 'stdio', command: [mailbox.binary, 'mcp'], env })
    opened.push(agent)
    const { card, address_text } = await tools(agent).whoami()
    const pid = card?.attested.pid ?? 0
    expect(isBelow(pid, agent.pid)).toBe(true)
    expect(card?.attested.exe).toBe(exeOf(pid))
    expect(card?.corroborated).toEqual({
      provider: client,
      provider_session_id: null,
      conversation: null,
      model: shown,
      cwd: agent.cwd,
      sources: { provider: 'proc', cwd: 'proc', ...(source === null ? {} : { model: source }) },
    })

    expect((await cli(agent, mailbox, 'ada').whoami()).address_text).toBe(address_text)
    expect(await cli(agent, mailbox, OPERATOR).run('whoami --json 2>&1; true')).toContain('agent_ancestor')
    expect(await agent.finish()).toBe(0)
  },
  START,
)
