// Conversations of VS Code: each chat of one process has its own mail; who is not VS Code, or is another one, gets none of it.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Actor } from './support/actor.ts'
import { copyAs } from './support/family.ts'
import { BINARY, Mailbox } from './support/mailbox.ts'

setDefaultTimeout(30_000)

let mailbox: Mailbox
let ann: string
let writer: Actor
/** Bun and a shell under the name of VS Code's program. */
let code: string
let codeShell: string
beforeAll(async () => {
  mailbox = await Mailbox.start()
  ann = await mailbox.account('ann')
  writer = await mailbox.actor(await mailbox.account('ben'))
  code = copyAs(mailbox, 'code', process.execPath)
  codeShell = copyAs(mailbox, 'code-insiders', '/bin/sh')
})
afterAll(() => mailbox[Symbol.asyncDispose]())

const meta = (chat: string) => ({ 'vscode.conversationId': chat, 'vscode.requestId': `request_${chat}` })
const tool = (name: string, args: object, chat?: string) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: `m4a_mail_${name}`, arguments: args, ...(chat === undefined ? {} : { _meta: meta(chat) }) },
})

async function call(actor: Actor, name: string, args: object, chat?: string): Promise<Record<string, any>> {
  const headers = chat === undefined ? {} : { 'mcp-session-id': chat, 'x-session-id': chat }
  const { body } = await actor.call({ door: 'raw', path: '/mcp', request: tool(name, args, chat), headers })
  return body.result.structuredContent
}

const ids = (inbox: Record<string, any>): string[] =>
  inbox.messages.map(({ message_id }: { message_id: string }) => message_id)
const letter = async (to: string): Promise<string> =>
  (await writer.ask('http', 'send', { to, subject: 'for one chat', body: 'private' })).message_id

test('each chat has the mail that is its own; another process that names it, VS Code or not, has none', async () => {
  const editor = await mailbox.actor(ann, { program: code })
  const chats = [crypto.randomUUID(), crypto.randomUUID()] as const
  const addresses = [await call(editor, 'whoami', {}, chats[0]), await call(editor, 'whoami', {}, chats[1])]
  const [one = '', two = ''] = addresses.map(({ address_text }) => address_text)
  const own = (await call(editor, 'whoami', {})).address_text
  expect(new Set([own, one, two]).size).toBe(3)
  expect(addresses[0]?.card).toMatchObject({
    attested: { pid: editor.pid, exe: code },
    corroborated: { conversation: chats[0], sources: { conversation: 'meta' } },
  })
  const [first, second] = [await letter(one), await letter(two)]

  const [sibling, otherWindow] = [await mailbox.actor(ann), await mailbox.actor(ann, { program: code })]
  for (const thief of [sibling, otherWindow])
    for (const chat of chats) {
      expect([one, two, own]).not.toContain((await call(thief, 'whoami', {}, chat)).address_text)
      expect(ids(await call(thief, 'inbox', {}, chat))).toEqual([])
      for (const message_id of [first, second])
        expect(await call(thief, 'get', { message_id }, chat)).toMatchObject({ kind: 'unknown_message' })
    }
  // who is not VS Code has no chats: its own session, whatever it names
  const names = [await call(sibling, 'whoami', {}, chats[0]), await call(sibling, 'whoami', {})]
  expect(new Set(names.map(({ address_text }) => address_text)).size).toBe(1)

  expect(ids(await call(editor, 'inbox', {}, chats[0]))).toEqual([first])
  expect(ids(await call(editor, 'inbox', {}, chats[1]))).toEqual([second])
  expect(ids(await call(editor, 'inbox', {}))).toEqual([])
})

/** Our bridge as a server that a program starts: the answers in the order of the ids, whichever came first. */
async function bridge(shell: string, lines: object[]): Promise<Record<string, any>[]> {
  const child = Bun.spawn([shell, '-c', `'${BINARY}' mcp; true`], {
    env: { PATH: process.env.PATH ?? '', HOME: mailbox.root, M4A_DATA_DIR: mailbox.data, M4A_TOKEN: ann },
    detached: true,
    stdin: new Blob([lines.map((line) => `${JSON.stringify(line)}\n`).join('')]),
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const text = await new Response(child.stdout).text()
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .sort((a, b) => a.id - b.id)
    .map(({ result }) => result.structuredContent)
}

test('a bridge that VS Code started has its chats; one that a shell started has one session', async () => {
  const asked = ['chat-1', 'chat-2', 'chat-1'].map((chat, id) => ({ ...tool('whoami', {}, chat), id }))
  const addresses = async (shell: string) =>
    (await bridge(shell, asked)).map(({ address_text }): string => address_text)
  const [one, two, again] = await addresses(codeShell)
  expect(again).toBe(one)
  expect(two).not.toBe(one)
  expect(new Set(await addresses('/bin/sh')).size).toBe(1)
})
