// mail4agent wake detect: what the environment says of the agent that runs here. No id is shown.
import { join } from 'node:path'
import { DamagedRecord, indexAt, sessionAt } from '../../wake/detect/agents.ts'
import { detectHost, UnknownName } from '../../wake/detect/host.ts'
import { Disagreement, resolveSession } from '../../wake/detect/resolve.ts'
import { Refusal } from '../../wire/refusal.ts'
import { agentAbove } from '../agent-above.ts'
import { defineCommand } from '../command.ts'
import type { Io } from '../io.ts'
import { usage } from '../usage.ts'

export const wakeDetect = defineCommand({
  name: 'wake detect',
  summary: 'what the environment says of the agent that runs here',
  usage: '',
  help: `Says where this runs (on a person's machine or at a vendor), of which client, whether anybody attends it, and which source
names its session. Two sources that name different ones are refused. It labels; what is proved is in mail4agent whoami.

  mail4agent wake detect

Environment: M4A_SURFACE (local, web), M4A_WEB_VENDOR, M4A_PROVIDER, M4A_HEADLESS, M4A_SESSION_ID, M4A_GROK_INDEX.`,
  options: {},
  words: [0, 0],
  async run(context) {
    const { io } = context
    try {
      const host = detectHost(io.env)
      const session = resolveSession([
        { name: 'M4A_SESSION_ID', session: io.env.M4A_SESSION_ID ?? null },
        { name: 'the environment', session: host.sessionId },
        { name: "Grok's index", session: host.provider === 'grok' ? grokSession(io) : null },
      ])
      const answer = {
        surface: host.surface,
        vendor: host.vendor,
        provider: host.provider ?? (await agentAbove(io)),
        headless: host.headless,
        session_id_present: session !== null,
        session_id_from: session?.from ?? null,
      }
      return context.show(answer, () =>
        context.facts([
          ['surface', answer.surface],
          ['vendor', answer.vendor],
          ['provider', answer.provider ?? 'none'],
          ['attended', answer.headless ? 'no' : 'yes'],
          ['session', answer.session_id_from === null ? 'not named' : `named by ${answer.session_id_from}`],
        ]),
      )
    } catch (error) {
      if (error instanceof UnknownName) throw usage(error.message)
      if (error instanceof DamagedRecord) throw new Refusal('damaged_config', error.message)
      if (error instanceof Disagreement) throw usage(error.message, 'unset one of them')
      throw error
    }
  },
})

function grokSession({ env, home, cwd }: Io): string | null {
  const path = env.M4A_GROK_INDEX ?? join(env.GROK_HOME ?? join(home, '.grok'), 'active_sessions.json')
  return sessionAt(indexAt(path), cwd)?.sessionId ?? null
}
