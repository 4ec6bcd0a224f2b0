// mail4agent hook: what an agent client runs at its own moments; prints one line about new mail in that client's form, or nothing.
import { MailClient } from '../client/client.ts'
import { HOOK_TOOL, NOTICED } from '../delivery/notices.ts'
import { agentAbove } from './agent-above.ts'
import { defineCommand } from './command.ts'
import type { Io } from './io.ts'
import { routeTo } from './place.ts'
import { STANDING } from './stand-by.ts'
import { storedToken } from './token-files.ts'

/** Milliseconds: a turn must not wait for us. */
const INPUT_MS = 250
const ANSWER_MS = 1_500
/** Bytes: a prompt may be long, and what is beyond tells us nothing. */
const INPUT_MOST = 1_048_576

/** The executable that is the client, where it is not named like it. */
const EXECUTABLE: Readonly<Record<string, string>> = { cursor: 'cursor-agent' }

export const hook = defineCommand({
  name: 'hook',
  summary: 'run as a hook of an agent client; tells the agent of new mail',
  usage: '<client> [<event>]',
  help: `Agent clients run this when a session begins, a prompt arrives or a turn ends; \`mail4agent up\` puts it into their
configuration. It reads the client's JSON from standard input and asks the mailbox, as that agent's session, for mail that it
has not been told of. If there is some it prints one line for the agent, and one for the person where the client shows it.
Each letter is told once. It exits with 0 whatever happens: no hook of ours fails a turn.

  mail4agent hook claude < event.json
  mail4agent hook copilot agentStop < event.json

Clients: ${NOTICED.join(', ')}.

claude-rewake and opencode-wake wait beside a session for mail that may wake it. claude-rewake ends with 2 once there is some,
which starts a turn of an idle Claude Code; at once with 0 where nobody attends the session.`,
  options: {},
  words: [1, 2],
  async run(context) {
    const { io, place, options, words } = context
    const client = context.word(0, 'the client')
    const standBy = Object.hasOwn(STANDING, client) ? STANDING[client] : undefined
    if (standBy !== undefined) return standBy(context)
    try {
      const input = await readInput(io)
      const event = words[1] ?? eventOf(input)
      // Clients read each other's hook files; and without an agent above us there is no session to tell.
      if (event === null || (await agentAbove(io)) !== (EXECUTABLE[client] ?? client)) return 0
      const token = storedToken(place.dataDir, options.as ?? client)
      if (token === null) return 0
      const mailbox = new MailClient({ ...routeTo(place), token })
      try {
        context.print(await ask(mailbox, client, event, conversationOf(client, input)))
      } finally {
        mailbox.close()
      }
    } catch {
      // No mailbox, no token, no answer in time: the turn goes on without us.
    }
    return 0
  },
})

type Input = { readonly [member: string]: unknown }

/** What the client wrote, as far as it came in time; an empty object where that is no JSON object. */
async function readInput(io: Io): Promise<Input> {
  const parts: Uint8Array[] = []
  const read = (async () => {
    let size = 0
    for await (const part of io.inputStream()) {
      parts.push(part)
      size += part.length
      if (size > INPUT_MOST) return
    }
  })()
  await Promise.race([read, Bun.sleep(INPUT_MS)])
  read.catch(() => {})
  try {
    const found: unknown = JSON.parse(Buffer.concat(parts).toString('utf8'))
    return typeof found === 'object' && found !== null ? { ...found } : {}
  } catch {
    return {}
  }
}

const textIn = (input: Input, ...names: string[]): string | null => {
  for (const name of names) {
    const value = input[name]
    if (typeof value === 'string' && value !== '') return value
  }
  return null
}

const eventOf = (input: Input): string | null => textIn(input, 'hook_event_name', 'hookEventName', 'event')

/** Codex alone has many conversations in one process, and names the one at hand in what it writes to its hooks. */
const conversationOf = (client: string, input: Input): string | null =>
  client === 'codex' ? textIn(input, 'session_id', 'sessionId') : null

/** The text that the hook's tool gives; what else comes, a refusal among it, is nothing. */
async function ask(mailbox: MailClient, client: string, event: string, conversation: string | null): Promise<string> {
  const call = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: {
      name: HOOK_TOOL,
      arguments: { client, event },
      ...(conversation === null ? {} : { _meta: { threadId: conversation } }),
    },
  }
  const { text } = await mailbox.mcp(JSON.stringify(call), {}, { timeoutMs: ANSWER_MS })
  const answer: { result?: { content?: { text?: unknown }[] } } = JSON.parse(text)
  const line = answer.result?.content?.[0]?.text
  return typeof line === 'string' && line !== '' ? `${line}\n` : ''
}
