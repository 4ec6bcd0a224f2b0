// Claude Code, Codex and opencode, three real processes with three accounts, exchange threaded mail through the binary.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model.ts'
import { type Running, startAgent } from './agent.ts'
import { CLIENTS, type ClientName } from './install.ts'
import { curl, tools } from './mail.ts'
import { type Mailbox, startMailbox } from './mailbox.ts'
import { exeOf, isClientOf } from './proc.ts'

/** Installing a client and starting it cold, in milliseconds. */
const START = 300_000
const TURN = 90_000

/** Named unlike the clients: nothing may depend on an account's name. */
const ACCOUNT: Record<ClientName, string> = { claude: 'ada', codex: 'ben', opencode: 'cyd' }

let mailbox: Mailbox
let model: ScriptedModel
const running = new Map<ClientName, Running>()
const opened: Running[] = []

async function start(client: ClientName): Promise<Running> {
  const token = await Bun.file(mailbox.tokenFile(ACCOUNT[client])).text()
  const agent = await startAgent(client, model, { kind: 'http', url: `${mailbox.url}/mcp`, token })
  opened.push(agent)
  return agent
}

const the = (client: ClientName): Running => {
  const agent = running.get(client)
  if (!agent) throw new Error(`${client} does not run`)
  return agent
}

beforeAll(async () => {
  mailbox = await startMailbox()
  model = startScriptedModel()
  for (const client of CLIENTS) await mailbox.account(ACCOUNT[client])
  for (const client of CLIENTS) running.set(client, await start(client))
}, START)

afterAll(async () => {
  for (const agent of opened) await agent.close()
  await model?.close()
  await mailbox?.stop()
}, START)

const pairs = CLIENTS.flatMap((from) => CLIENTS.filter((to) => to !== from).map((to) => [from, to] as const))

describe('three clients, three accounts', () => {
  test.each(CLIENTS)(
    '%s is attested as its own process',
    async (client) => {
      const me = await tools(the(client)).whoami()
      expect(me.account).toBe(ACCOUNT[client])
      expect(me.address.kind).toBe('session')
      const attested = me.card?.attested
      expect(attested?.exe).toBe(exeOf(attested?.pid ?? 0))
      expect(isClientOf(attested?.pid ?? 0, the(client).pid)).toBe(true)
      expect(me.card?.corroborated.provider).toBe(client)
      // Codex alone names its conversation on every call.
      if (client === 'codex') expect(me.card?.corroborated.conversation).toMatch(/^[0-9a-f-]{36}$/)
    },
    TURN,
  )

  test.each(pairs)(
    '%s writes to %s, is answered in its own session and sees the receipt',
    async (from, to) => {
      const [a, b] = [tools(the(from)), tools(the(to))]
      const [aText, bText] = [(await a.whoami()).address_text, (await b.whoami()).address_text]
      const body = `from ${from} to ${to}\r\n\tline two, ünïcödé 𝄞 "quoted"\n`

      // The reader is parked before the mail exists: the answer must wake it.
      const parked = b.inbox({ wait_secs: 30 })
      const sent = await a.send({ to: ACCOUNT[to], subject: 'a question', body })
      expect(sent.from_text).toBe(aText)
      expect(sent.thread).toBe(sent.message_id)

      const seen = await parked
      const got = seen.messages.find((message) => message.message_id === sent.message_id)
      expect(got).toMatchObject({ from_text: aText, to_text: ACCOUNT[to], subject: 'a question', body, state: 'new' })
      expect((await b.get(sent.message_id)).body).toBe(body)

      const answered = a.inbox({ wait_secs: 30 })
      const reply = await b.send({ reply_to: sent.message_id, body: 'an answer' })
      expect(reply.from_text).toBe(bText)
      expect(reply.results).toMatchObject([{ to_text: aText, ok: true }])

      const back = (await answered).messages.find((message) => message.message_id === reply.message_id)
      expect(back).toMatchObject({ from_text: bText, to_text: aText, reply_to: sent.message_id, body: 'an answer' })
      expect(back?.thread).toBe(sent.message_id)

      expect((await b.ack(sent.message_id)).message_id).toBe(sent.message_id)
      const { receipts } = await curl(the(from), mailbox, ACCOUNT[from]).receipts(sent.message_id)
      expect(receipts[0]?.deliveries).toMatchObject([
        { to_text: ACCOUNT[to], state: 'closed', opened_by: bText, closed_by: bText, close_reason: 'acknowledged' },
      ])

      await a.ack(reply.message_id)
      expect((await a.inbox()).messages).toEqual([])
      expect((await b.inbox()).messages).toEqual([])
    },
    TURN,
  )

  test.each(CLIENTS)(
    'a second %s with the same token is another session and reads no session mail of the first',
    async (client) => {
      const first = tools(the(client))
      const other = await start(client)
      const second = tools(other)
      const firstText = (await first.whoami()).address_text
      const secondText = (await second.whoami()).address_text
      expect(secondText).not.toBe(firstText)

      const writer = tools(the(CLIENTS.find((name) => name !== client) ?? client))
      const sent = await writer.send({ to: firstText, subject: 'for one of you', body: 'xylophone secret' })
      expect((await second.inbox()).messages).toEqual([])
      expect(await other.toolText('m4a_mail_get', { message_id: sent.message_id })).toContain('unknown_message')
      expect(await other.toolText('m4a_mail_ack', { message_id: sent.message_id })).toContain('unknown_message')
      expect(await other.toolText('m4a_mail_search', { query: 'xylophone' })).not.toContain(sent.message_id)
      const mine = await first.inbox()
      expect(mine.messages.map((message) => message.message_id)).toEqual([sent.message_id])
      expect(mine.messages[0]?.body).toBe('xylophone secret')
      await first.ack(sent.message_id)
      expect(await other.finish()).toBe(0)
    },
    TURN,
  )

  test(
    'every client ends its turn in order',
    async () => {
      for (const client of CLIENTS) expect(await the(client).finish()).toBe(0)
    },
    TURN,
  )
})
