// An agent that is resumed in a new process keeps the mail of its session; a second process beside a live one does not get it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model.ts'
import { type Options, type Running, startAgent } from './agent.ts'
import { CLIENTS, type ClientName } from './install.ts'
import { tools } from './mail.ts'
import { type Mailbox, startMailbox } from './mailbox.ts'

/** Installing a client and starting it cold, in milliseconds. */
const START = 300_000
const TURN = 120_000

let mailbox: Mailbox
let model: ScriptedModel
let writer: Running
const opened: Running[] = []

async function start(client: ClientName, account: string, options: Options = {}): Promise<Running> {
  const token = readFileSync(mailbox.tokenFile(account), 'utf8')
  const agent = await startAgent(client, model, { kind: 'http', url: `${mailbox.url}/mcp`, token }, options)
  opened.push(agent)
  return agent
}

beforeAll(async () => {
  mailbox = await startMailbox()
  model = startScriptedModel()
  await mailbox.account('ada')
  await mailbox.account('ben')
  writer = await start('claude', 'ben')
}, START)

afterAll(async () => {
  for (const agent of opened) await agent.close()
  await model?.close()
  await mailbox?.stop()
}, START)

/** The client's own id of the session that it ran in `home`, from the files that it left there. */
function sessionIn(client: ClientName, home: string): string {
  const place = { claude: '.claude/projects', codex: '.codex/sessions', opencode: '.local/share/opencode/log' }[client]
  const files = readdirSync(join(home, place), { recursive: true, encoding: 'utf8' })
  const uuid = /([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/
  for (const file of files) {
    const found =
      client === 'opencode'
        ? /message=created id=(ses_[A-Za-z0-9]+)/.exec(readFileSync(join(home, place, file), 'utf8'))
        : uuid.exec(file)
    if (found?.[1]) return found[1]
  }
  throw new Error(`${client} left no session in ${home}`)
}

const letter = (to: string) => tools(writer).send({ to, subject: 'for this session', body: 'wait for it' })

async function ids(agent: Running): Promise<string[]> {
  const { messages } = await tools(agent).inbox()
  return messages.map(({ message_id }) => message_id)
}

describe.each(CLIENTS)('%s', (client) => {
  test(
    'resumed after it has ended it has the mail of its session',
    async () => {
      const first = await start(client, 'ada')
      const firstText = (await tools(first).whoami()).address_text
      expect(await first.finish()).toBe(0)
      const again = { home: first.home, session: sessionIn(client, first.home) }
      const missed = await letter(firstText)

      const second = await start(client, 'ada', { again })
      const secondText = (await tools(second).whoami()).address_text
      expect(secondText).not.toBe(firstText)
      // opencode shows the id of a session only where it was started with it: nobody can prove that its first run had it.
      expect(await ids(second)).toEqual(client === 'opencode' ? [] : [missed.message_id])
      if (client !== 'opencode') await tools(second).ack(missed.message_id)
      const unread = await letter(secondText)
      expect(await second.finish()).toBe(0)
      const late = await letter(secondText)

      const third = await start(client, 'ada', { again })
      expect(await ids(third)).toEqual([unread.message_id, late.message_id])
      for (const { message_id } of [unread, late]) await tools(third).ack(message_id)
      expect(await third.finish()).toBe(0)
    },
    TURN,
  )
})

test(
  'a second Claude Code on the session of a live one has none of its mail',
  async () => {
    const live = await start('claude', 'ada')
    const liveText = (await tools(live).whoami()).address_text
    const sent = await letter(liveText)
    const again = { home: live.home, session: sessionIn('claude', live.home) }
    const fork = await start('claude', 'ada', { again })
    expect((await tools(fork).whoami()).address_text).not.toBe(liveText)
    expect(await ids(fork)).toEqual([])
    expect(await fork.toolText('m4a_mail_get', { message_id: sent.message_id })).toContain('unknown_message')
    expect(await fork.finish()).toBe(0)
    expect(await ids(live)).toEqual([sent.message_id])
    expect(await live.finish()).toBe(0)
  },
  TURN,
)
