// A hook that is a tool of a server, and a tool that the server's list does not show: whether a client calls it.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { strings } from '../support/json.ts'
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model.ts'
import { prepareAgent, type Running, startPrepared } from './agent.ts'
import { type Mailbox, startMailbox } from './mailbox.ts'
import { SERVER } from './recipe.ts'

setDefaultTimeout(300_000)
const TOOL = 'm4a_mail_hook'

let mailbox: Mailbox
let model: ScriptedModel
const opened: Running[] = []
beforeAll(async () => {
  // while a session is being woken its hook has nothing to add: here it is the hook that is asked
  mailbox = await startMailbox({ M4A_WAKE: 'off' })
  model = startScriptedModel()
})
afterAll(async () => {
  for (const agent of opened) await agent.close()
  await model?.close()
  await mailbox?.stop()
})

/** A run of the client with one letter waiting and that hook alone. */
async function run(client: 'claude' | 'codex', file: string): Promise<{ told: boolean; offered: string[] }> {
  const token = await mailbox.account(client)
  await mailbox.operator('/mail/send', { to: client, subject: 's', body: 'b' })
  const door = { kind: 'http', url: `${mailbox.url}/mcp`, token } as const
  const prepared = await prepareAgent(client, model, door, { hook: 'true' })
  const handler = {
    type: 'mcp_tool',
    server: SERVER,
    tool: TOOL,
    input: { client, event: 'UserPromptSubmit' },
    timeout: 20,
  }
  writeFileSync(join(prepared.home, file), JSON.stringify({ hooks: { UserPromptSubmit: [{ hooks: [handler] }] } }))
  const agent = startPrepared(prepared)
  opened.push(agent)
  await agent.toolText('m4a_mail_whoami')
  const offered = agent.script.log.flatMap(({ tools }) => tools.map(({ name }) => name))
  const told = strings(agent.script.log.at(-1)?.body ?? null).some((text) =>
    text.includes('mail4agent: you have 1 new'),
  )
  expect(await agent.finish()).toBe(0)
  return { told, offered }
}

test('Claude Code calls it, and its model does not see it', async () => {
  const { told, offered } = await run('claude', '.claude/settings.json')
  expect(told).toBe(true)
  expect(offered.filter((name) => name.includes(TOOL))).toEqual([])
  expect(offered.some((name) => name.includes('m4a_mail_whoami'))).toBe(true)
})

test('Codex calls it, and its model does not see it', async () => {
  const { told, offered } = await run('codex', '.codex/hooks.json')
  expect(told).toBe(true)
  expect(offered.filter((name) => name.includes(TOOL))).toEqual([])
})
