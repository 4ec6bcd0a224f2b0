// mail4agent mcp: the mailbox as an MCP server on standard input and output.
import type { MailClient } from '../client/client.ts'
import { runBridge } from '../door/mcp/stdio.ts'
import { LOOK_HEADER, LOOK_VARIABLE } from '../wire/look.ts'
import { defineCommand } from './command.ts'
import { isRestart } from './patient.ts'

export const mcp = defineCommand({
  name: 'mcp',
  summary: 'serve MCP on standard input and output, for agent clients',
  usage: '',
  help: `An MCP server on standard input and output that passes everything on to the running mailbox. Agent clients start it; it acts
as the session of the client that started it. Where the client speaks HTTP, /mcp of the mailbox itself serves it as well.

  claude mcp add mailbox -- mail4agent mcp --as claude
  codex mcp add mailbox -- mail4agent mcp --as codex

A missing account or mailbox ends nothing: each call then says what is wrong, and works once it is mended.`,
  options: {},
  words: [0, 0],
  async run(context) {
    // Made anew when the mailbox is away: it may come back at another place.
    let client: MailClient | null = null
    const looking: Record<string, string> = context.io.env[LOOK_VARIABLE] === '1' ? { [LOOK_HEADER]: '1' } : {}
    await runBridge({
      input: context.io.inputStream(),
      write: (line) => context.print(`${line}\n`),
      async forward(body, headers, signal) {
        client ??= await context.mailbox()
        try {
          return (await client.mcp(body, { ...headers, ...looking }, { signal })).text
        } catch (error) {
          if (isRestart(error)) client = null
          throw error
        }
      },
    })
    return 0
  },
})
