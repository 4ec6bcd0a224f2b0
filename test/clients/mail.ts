// An agent's use of the mailbox through its own MCP tools and its own shell, each answer checked against its schema.
import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { AckAnswer, InboxAnswer, ReceiptsAnswer, SendAnswer, WhoamiAnswer } from '../../src/wire/answers.ts'
import { Message } from '../../src/wire/letter.ts'
import type { Json } from '../support/json.ts'
import type { Agent } from './agent.ts'
import type { Mailbox } from './mailbox.ts'

/** `json` as what `schema` says it is. Throws with the first difference. */
export function parse<T extends TSchema>(schema: T, json: Json): Static<T> {
  if (Value.Check(schema, json)) return json
  const first = Value.Errors(schema, json).First()
  throw new Error(`${first?.path}: ${first?.message} in ${JSON.stringify(json).slice(0, 2000)}`)
}

/** The JSON that a shell command printed; clients put words of their own around it. */
export function parseText<T extends TSchema>(schema: T, text: string): Static<T> {
  const start = text.indexOf('{')
  if (start < 0) throw new Error(`no JSON in ${JSON.stringify(text)}`)
  const json: Json = JSON.parse(text.slice(start, text.lastIndexOf('}') + 1))
  return parse(schema, json)
}

/** Through the tools of the MCP server. */
export function tools(agent: Agent) {
  return {
    send: async (args: Json) => parse(SendAnswer, await agent.tool('m4a_mail_send', args)),
    inbox: async (args: Json = {}) => parse(InboxAnswer, await agent.tool('m4a_mail_inbox', args)),
    ack: async (id: string) => parse(AckAnswer, await agent.tool('m4a_mail_ack', { message_id: id })),
    get: async (id: string) => parse(Message, await agent.tool('m4a_mail_get', { message_id: id })),
    whoami: async () => parse(WhoamiAnswer, await agent.tool('m4a_mail_whoami')),
  }
}

/** Through `curl` in the client's shell tool; the token comes from a file, so that no process list shows it. */
export function curl(agent: Agent, mailbox: Mailbox, account: string) {
  const post = (path: string, body: Json) => agent.shell(curlCommand(mailbox, mailbox.headerFile(account), path, body))
  return {
    post,
    send: async (body: Json) => parseText(SendAnswer, await post('/mail/send', body)),
    whoami: async () => parseText(WhoamiAnswer, await post('/mail/whoami', {})),
    receipts: async (id: string) => parseText(ReceiptsAnswer, await post('/mail/receipts', { message_id: id })),
  }
}

/** `curl` with the bearer header of `headerFile`; a refusal is printed like an answer. */
export function curlCommand(mailbox: Mailbox, headerFile: string, path: string, body: Json): string {
  const json = JSON.stringify(body)
  if (json.includes("'")) throw new Error('no quotes, please: the body is quoted for the shell')
  return `curl -sS -H @${headerFile} -H 'content-type: application/json' -d '${json}' ${mailbox.url}${path}`
}

/** Through our own command line in the client's shell tool. */
export function cli(agent: Agent, mailbox: Mailbox, account: string) {
  const run = (args: string) => agent.shell(`${mailbox.command(account)} ${args}`)
  return {
    run,
    send: async (args: string) => parseText(SendAnswer, await run(`send ${args} --json`)),
    whoami: async () => parseText(WhoamiAnswer, await run('whoami --json')),
  }
}
