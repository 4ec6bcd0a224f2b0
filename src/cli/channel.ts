// mail4agent channel: a channel of Claude Code, which starts it as an MCP server; new mail rings in that session.
import { setTimeout as pause } from 'node:timers/promises'
import { runChannel } from '../door/mcp/channel.ts'
import type { StandByAnswer } from '../wire/wake.ts'
import { clientAbove } from './agent-above.ts'
import { defineCommand } from './command.ts'
import type { Context } from './context.ts'
import { standAt } from './stand-by.ts'

/** Milliseconds after which a mailbox, an account or a seat that was not to be had is looked for again. */
const AGAIN_MS = 5_000

export const channel = defineCommand({
  name: 'channel',
  summary: 'ring in a session of Claude Code, as a channel of it',
  usage: '',
  help: `An MCP server on standard input and output for the channels of Claude Code (a research preview). Claude Code starts it; it
acts as that session, waits at the mailbox and passes on what would wake it: who wrote and how to read it, never a body. It has
no tools, those are of \`mail4agent mcp\`, and it answers no permission question.

  claude mcp add -s user mail4agent-channel -- mail4agent channel --as claude
  claude --dangerously-load-development-channels server:mail4agent-channel

Claude Code itself decides whether there are channels (by the account that it is logged in with, and its organization), asks at
each start, and drops in silence what it does not take. So a letter counts as taken once the session's transcript shows it, and
after one that was dropped the channel is passed by. Without that option it drops all, and nothing stands by. The hook that
\`mail4agent up\` sets up wakes a session without any of this; it is tried first.`,
  options: {},
  words: [0, 0],
  async run(context) {
    const above = await clientAbove(context.io)
    const listens = above?.client === 'claude' && hasChannels(above.argv)
    if (!listens) context.say('no Claude Code with channels started this; nothing rings: mail4agent help channel')
    await runChannel({
      input: context.io.inputStream(),
      write: (line) => context.print(`${line}\n`),
      next: listens ? nextOf(context) : async () => null,
    })
    return 0
  },
})

/** Claude Code, "Channels reference": they are chosen for each session, on its command line alone. */
const hasChannels = (argv: readonly string[]): boolean =>
  argv.some((word) => /^--(channels|dangerously-load-development-channels)(=|$)/.test(word))

/** Stands by for as long as the client runs; what is missing now may be mended meanwhile. */
function nextOf(context: Context): (signal: AbortSignal) => Promise<StandByAnswer['wake']> {
  let stand: ReturnType<typeof standAt> = null
  return async (signal) => {
    while (!signal.aborted) {
      stand ??= standAt(context, 'claude', 'claude-channel')
      const wake = (await stand?.next({}, signal)) ?? null
      if (wake !== null) return wake
      stand?.close()
      stand = null
      await pause(AGAIN_MS, undefined, { signal }).catch(() => {})
    }
    return null
  }
}
