// Claude Code: the server in ~/.claude.json as `claude mcp add -s user` writes it, hooks in ~/.claude/settings.json.
import { join } from 'node:path'
import { HOOK_TOOL } from '../../delivery/notices.ts'
import { type AgentClient, findBy } from '../client.ts'
import { type Machine, SERVER, type Us } from '../machine.ts'
import { command, HOOK_SECONDS, hookLine, jsonFile } from './files.ts'

const folder = ({ env, home }: Machine): string => env.CLAUDE_CONFIG_DIR || join(home, '.claude')
/** With CLAUDE_CONFIG_DIR it lies in that folder, else beside it. */
const config = (machine: Machine): string => join(machine.env.CLAUDE_CONFIG_DIR || machine.home, '.claude.json')

/** Asked over the agent's own connection: no process is started for it. Not at SessionStart, where Claude has no server yet. */
const tool = {
  type: 'mcp_tool',
  server: SERVER,
  tool: HOOK_TOOL,
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Claude Code puts the value in
  input: { client: 'claude', event: '${hook_event_name}' },
  timeout: HOOK_SECONDS,
}

/** Seconds: a day; the waiter leaves with the session. */
const WAITER_SECONDS = 86_400

/**
 * Stands by for mail while the session is idle, and wakes it. `async` at SessionStart too: Claude Code would else wait for
 * it before its first turn.
 */
const waiter = (machine: Machine, us: Us) =>
  command(hookLine(machine, us, 'claude-rewake'), { async: true, asyncRewake: true, timeout: WAITER_SECONDS })

export const claude: AgentClient = {
  name: 'claude',
  title: 'Claude Code',
  find: (machine) => findBy(machine, ['claude'], [folder(machine), config(machine)]),
  files: (machine, us) => [
    jsonFile(config(machine), us, 'claude', {
      // alwaysLoad: else our tools hide behind Claude's tool search, and no model knows that it has a mailbox
      server: {
        at: ['mcpServers'],
        entry: (command, args) => ({ type: 'stdio', command, args, env: {}, alwaysLoad: true }),
      },
    }),
    jsonFile(join(folder(machine), 'settings.json'), us, 'claude', {
      hooks: {
        client: 'claude',
        grouped: true,
        wanted: {
          SessionStart: [command(hookLine(machine, us, 'claude'), { timeout: HOOK_SECONDS }), waiter(machine, us)],
          UserPromptSubmit: tool,
          Stop: [tool, waiter(machine, us)],
        },
      },
    }),
  ],
}
