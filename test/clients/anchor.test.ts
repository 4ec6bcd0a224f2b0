// Which session a client's shell, hook, bridge and nested agents act in, and whose tokens an agent may not use.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { WhoamiAnswer } from '../../src/wire/answers.ts'
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model.ts'
import { type Agent, commandLine, prepareAgent, type Running, startAgent } from './agent.ts'
import { CLIENTS, type ClientName } from './install.ts'
import { cli, curl, parseText, tools } from './mail.ts'
import { type Mailbox, OPERATOR, startMailbox } from './mailbox.ts'
import { exeOf, isClientOf } from './proc.ts'
import type { Door } from './recipe.ts'

/** Installing a client and starting it cold, in milliseconds. */
const START = 300_000
const TURN = 120_000

let mailbox: Mailbox
let model: ScriptedModel
const opened: { close(): Promise<void> }[] = []

beforeAll(async () => {
  mailbox = await startMailbox()
  model = startScriptedModel()
  for (const account of ['ada', 'ben', 'cyd']) await mailbox.account(account)
  await mailbox.account('pat', { kind: 'person' })
}, START)

afterAll(async () => {
  for (const agent of opened) await agent.close()
  await model?.close()
  await mailbox?.stop()
}, START)

const http = (account: string): Door => ({
  kind: 'http',
  url: `${mailbox.url}/mcp`,
  token: readFileSync(mailbox.tokenFile(account), 'utf8'),
})
const bridge = (account: string): Door => ({
  kind: 'stdio',
  command: [mailbox.binary, 'mcp'],
  env: { M4A_DATA_DIR: mailbox.dataDir, M4A_TOKEN_FILE: mailbox.tokenFile(account) },
})

async function start(client: ClientName, door: Door, options: { hook?: string } = {}): Promise<Running> {
  const agent = await startAgent(client, model, door, options)
  opened.push(agent)
  return agent
}

/** Runs `client` from the shell of `outer`, whose environment it inherits, for as long as `work` takes. */
async function nest(outer: Agent, client: ClientName, door: Door, work: (inner: Agent) => Promise<void>) {
  const inner = await prepareAgent(client, model, door)
  opened.push(inner)
  const shell = outer.shell(commandLine(inner)).then(
    (output) => inner.gone.abort(new Error(`it ended: ${output}`)),
    (error) => inner.gone.abort(error),
  )
  await work(inner)
  await inner.say('done')
  await shell
}

describe.each(CLIENTS)('%s', (client) => {
  test(
    'curl and our command line in its shell act as its session',
    async () => {
      const agent = await start(client, http('ada'))
      const me = await tools(agent).whoami()

      expect((await curl(agent, mailbox, 'ada').whoami()).address_text).toBe(me.address_text)
      const byCurl = await curl(agent, mailbox, 'ada').send({ to: 'ben', subject: 'by curl', body: 'one' })
      expect(byCurl.from_text).toBe(me.address_text)

      expect((await cli(agent, mailbox, 'ada').whoami()).address_text).toBe(me.address_text)
      const byCli = await cli(agent, mailbox, 'ada').send("ben --subject 'by hand' two")
      expect(byCli.from_text).toBe(me.address_text)

      // What the shell sent is answered in the agent's own inbox.
      const other = await start('claude', http('ben'))
      const reply = await tools(other).send({ reply_to: byCli.message_id, body: 'three' })
      const inbox = await tools(agent).inbox({ wait_secs: 10 })
      expect(inbox.messages).toMatchObject([{ message_id: reply.message_id, to_text: me.address_text }])
      expect(await agent.finish()).toBe(0)
      expect(await other.finish()).toBe(0)
    },
    TURN,
  )

  test(
    'its shell with the token of another account is a session of its own',
    async () => {
      const agent = await start(client, http('ada'))
      const me = await tools(agent).whoami()
      const stranger = await curl(agent, mailbox, 'ben').whoami()
      expect(stranger.account).toBe('ben')
      expect(stranger.card?.attested.pid).not.toBe(me.card?.attested.pid)
      expect(stranger.card?.attested.exe).toEndWith('/curl')
      expect(await agent.finish()).toBe(0)
    },
    TURN,
  )

  test(
    'its stdio bridge acts as its session',
    async () => {
      const agent = await start(client, bridge('ada'))
      const me = await tools(agent).whoami()
      const attested = me.card?.attested
      expect(isClientOf(attested?.pid ?? 0, agent.pid)).toBe(true)
      expect(attested?.exe).toBe(exeOf(attested?.pid ?? 0))
      expect((await curl(agent, mailbox, 'ada').whoami()).address_text).toBe(me.address_text)
      const sent = await tools(agent).send({ to: 'ben', subject: 'by bridge', body: 'one' })
      expect(sent.from_text).toBe(me.address_text)
      expect(await agent.finish()).toBe(0)
    },
    TURN,
  )

  test(
    'its hook acts as its session',
    async () => {
      const file = join(mailbox.dataDir, '..', `hook-${client}.json`)
      const agent = await start(client, http('ada'), { hook: `${mailbox.command('ada')} whoami --json > ${file}` })
      const me = await tools(agent).whoami()
      const hook = parseText(WhoamiAnswer, await Bun.file(file).text())
      expect(hook.account).toBe('ada')
      expect(hook.address_text).toBe(me.address_text)
      expect(await agent.finish()).toBe(0)
    },
    TURN,
  )

  const next: Record<ClientName, ClientName> = { claude: 'codex', codex: 'opencode', opencode: 'claude' }
  const nested = [
    { inner: client, account: 'ada', whose: 'the same account' },
    { inner: next[client], account: 'ben', whose: 'another account' },
  ]
  test.each(nested)(
    'a nested $inner of $whose is a session of its own',
    async ({ inner, account }) => {
      const outer = await start(client, http('ada'))
      const me = await tools(outer).whoami()
      const letter = await curl(outer, mailbox, 'cyd').send({
        to: me.address_text,
        subject: 'private',
        body: 'for the outer one',
      })
      await nest(outer, inner, http(account), async (agent) => {
        const child = await tools(agent).whoami()
        expect(child.account).toBe(account)
        expect(child.address_text).not.toBe(me.address_text)
        expect(child.card?.attested.spawned_by).toBe(me.address_text)
        // The environment of the outer agent is inherited and must not win.
        expect((await curl(agent, mailbox, account).whoami()).address_text).toBe(child.address_text)
        expect((await cli(agent, mailbox, account).whoami()).address_text).toBe(child.address_text)
        expect(await agent.toolText('m4a_mail_get', { message_id: letter.message_id })).toContain('unknown_message')
      })
      expect((await curl(outer, mailbox, 'ada').whoami()).address_text).toBe(me.address_text)
      expect((await tools(outer).inbox()).messages).toMatchObject([{ message_id: letter.message_id }])
      expect(await outer.finish()).toBe(0)
    },
    TURN,
  )

  test(
    'from its shell an operator and a person are refused and nothing is stored',
    async () => {
      const agent = await start(client, http('ada'))
      const asOperator = cli(agent, mailbox, OPERATOR)
      for (const args of ['admin account list', 'admin account add eve', 'send ben no', 'whoami']) {
        const output = await asOperator.run(`${args} --json 2>&1; echo exit=$?`)
        expect(output).toContain('agent_ancestor')
        expect(output).toContain('exit=1')
      }
      for (const path of ['/admin/participant/list', '/mail/whoami', '/mail/sent']) {
        expect(await curl(agent, mailbox, OPERATOR).post(path, {})).toContain('agent_ancestor')
      }
      expect(await curl(agent, mailbox, 'pat').post('/mail/send', { to: 'ben', subject: 'no', body: 'no' })).toContain(
        'agent_ancestor',
      )
      const toEve = { to: 'eve', subject: 'are you there', body: 'no' }
      expect(await agent.toolText('m4a_mail_send', toEve)).toContain('unknown_participant')
      // An agent's own token does not administer either.
      expect(await curl(agent, mailbox, 'ada').post('/admin/participant/list', {})).toContain('permission_denied')
      expect(await agent.finish()).toBe(0)
    },
    TURN,
  )

  test(
    'configured with a person’s token it is offered no mail tools',
    async () => {
      const agent = await start(client, http('pat'))
      expect((await agent.script.tools()).filter((name) => name.includes('m4a_mail'))).toEqual([])
      expect(await agent.finish()).toBe(0)
    },
    TURN,
  )
})
