// Conversations of one process and sessions of one account: each has the mail that is its own, whatever another one claims.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dig, type Json, list, text } from '../support/json.ts'
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model.ts'
import { type Agent, prepareAgent, type Running, startAgent } from './agent.ts'
import { startAppServer } from './app-server.ts'
import { tools } from './mail.ts'
import { type Mailbox, startMailbox } from './mailbox.ts'

/** Installing a client and starting it cold, in milliseconds. */
const START = 300_000
const TURNS = 180_000

let mailbox: Mailbox
let model: ScriptedModel
let writer: Running
const opened: { close(): Promise<void> }[] = []

const door = (account: string) =>
  ({ kind: 'http', url: `${mailbox.url}/mcp`, token: readFileSync(mailbox.tokenFile(account), 'utf8') }) as const

async function start(account: string): Promise<Running> {
  const agent = await startAgent('claude', model, door(account))
  opened.push(agent)
  return agent
}

beforeAll(async () => {
  // while a session is being woken its hook has nothing to add: here it is the hook that is asked
  mailbox = await startMailbox({ M4A_WAKE: 'off' })
  model = startScriptedModel()
  for (const account of ['ada', 'ben']) await mailbox.account(account)
  writer = await start('ben')
  // where a hook looks for its token
  const folder = join(mailbox.dataDir, 'tokens')
  mkdirSync(folder, { mode: 0o700, recursive: true })
  writeFileSync(join(folder, 'ada'), door('ada').token, { mode: 0o600 })
}, START)

afterAll(async () => {
  for (const agent of opened) await agent.close()
  await model?.close()
  await mailbox?.stop()
}, START)

const ids = async (agent: Agent): Promise<string[]> =>
  (await tools(agent).inbox()).messages.map(({ message_id }) => message_id)

/** A hook of the client, run by hand: what it is told names `session`. */
function hookOf(client: string, session: string, environment = ''): string {
  const input = JSON.stringify({ session_id: session, hook_event_name: 'UserPromptSubmit', prompt: 'x' })
  return `echo '${input}' | ${environment} ${mailbox.command('ada')} hook ${client} --as ada; echo exit=$?`
}

/** We ourselves: another process with the account's token, which says whatever it likes beside its call. */
async function sibling(name: string, args: Json, meta: Json, headers: Record<string, string>): Promise<string> {
  const { url, token } = door('ada')
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args, _meta: meta } }
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      ...headers,
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify(call),
  })
  const answer: Json = await response.json()
  return text(answer, 'result', 'content', 0, 'text') || JSON.stringify(answer)
}

test(
  'two conversations in one Codex process get their own replies; a process that claims one of them gets none',
  async () => {
    const codex = await startAppServer(await prepareAgent('codex', model, door('ada')))
    opened.push(codex)
    const threads = [await codex.thread(), await codex.thread()] as const
    const ask = (thread: string) =>
      codex.turn(thread, async () => {
        const me = (await tools(codex).whoami()).address_text
        const sent = await tools(codex).send({ to: 'ben', subject: `of ${thread}`, body: 'a question' })
        return { thread, me, question: sent.message_id }
      })
    const asked = [await ask(threads[0]), await ask(threads[1])]
    expect(new Set(asked.map(({ me }) => me)).size).toBe(2)

    const replies: string[] = []
    for (const { thread, question } of asked) {
      const body = `to ${thread}`
      replies.push((await tools(writer).send({ reply_to: question, body })).message_id)
      await tools(writer).ack(question)
    }

    for (const { thread, me } of asked) {
      const meta = {
        threadId: thread,
        sessionId: thread,
        'x-codex-turn-metadata': JSON.stringify({ thread_id: thread }),
      }
      const headers = { 'x-codex-thread-id': thread, 'mcp-session-id': thread, 'x-session-id': thread }
      const whoami: Json = JSON.parse(await sibling('m4a_mail_whoami', {}, meta, headers))
      expect(text(whoami, 'address_text')).toStartWith('ada/')
      expect(text(whoami, 'address_text')).not.toBe(me)
      const inbox: Json = JSON.parse(await sibling('m4a_mail_inbox', {}, meta, headers))
      expect(dig(inbox, 'messages')).toEqual([])
      for (const message_id of replies)
        expect(await sibling('m4a_mail_get', { message_id }, meta, headers)).toContain('unknown_message')
    }

    const rival = await startAgent('codex', model, door('ada'))
    opened.push(rival)
    for (const { thread } of asked)
      expect(await rival.shell(hookOf('codex', thread, `CODEX_THREAD_ID=${thread}`))).not.toContain('new letter')
    expect(await ids(rival)).toEqual([])
    expect(await rival.finish()).toBe(0)

    for (const [at, { thread }] of asked.entries())
      await codex.turn(thread, async () => {
        expect(await codex.shell(hookOf('codex', thread))).toContain('1 new letter')
        expect(await ids(codex)).toEqual([replies[at] ?? ''])
        const message_id = replies[1 - at] ?? ''
        expect(await codex.toolText('m4a_mail_get', { message_id })).toContain('unknown_message')
        await tools(codex).ack(replies[at] ?? '')
      })
  },
  TURNS,
)

test(
  'two Claude Codes of one account have their own mail, whatever session one of them claims in environment, header or hook input',
  async () => {
    const [victim, other] = [await start('ada'), await start('ada')]
    const victimText = (await tools(victim).whoami()).address_text
    const otherText = (await tools(other).whoami()).address_text
    expect(otherText).not.toBe(victimText)
    const session = /[0-9a-f-]{36}/.exec(await victim.shell('echo $CLAUDE_CODE_SESSION_ID'))?.[0] ?? ''
    expect(session).toHaveLength(36)
    const letter = async (to: string) =>
      (await tools(writer).send({ to, subject: 'for one session', body: 'private' })).message_id
    const secrets = [await letter(victimText), await letter(victimText)]
    const own = await letter(otherText)
    const claim = `CLAUDE_CODE_SESSION_ID=${session} CLAUDE_SESSION_ID=${session}`

    expect(await ids(other)).toEqual([own])
    for (const message_id of secrets)
      expect(await other.toolText('m4a_mail_get', { message_id })).toContain('unknown_message')
    const listed: Json = JSON.parse(jsonIn(await other.shell(`${claim} ${mailbox.command('ada')} inbox --json`)))
    expect(list(listed, 'messages').map((one) => text(one, 'message_id'))).toEqual([own])
    const headers = `-H 'x-claude-code-session-id: ${session}' -H 'mcp-session-id: ${session}'`
    const post = `curl -sS -H @${mailbox.headerFile('ada')} ${headers} -H 'content-type: application/json'`
    const over: Json = JSON.parse(jsonIn(await other.shell(`${post} -d '{}' ${mailbox.url}/mail/inbox`)))
    expect(list(over, 'messages').map((one) => text(one, 'message_id'))).toEqual([own])

    await tools(other).ack(own)
    expect(await other.shell(hookOf('claude', session, claim))).not.toContain('new letter')
    // the same words in the session that they name
    expect(await victim.shell(hookOf('claude', session, claim))).toContain('2 new letters')

    expect(await ids(victim)).toEqual(secrets)
    for (const agent of [victim, other]) expect(await agent.finish()).toBe(0)
  },
  TURNS,
)

const jsonIn = (said: string): string => said.slice(said.indexOf('{'), said.lastIndexOf('}') + 1)
