// Codex: the server in config.toml as `codex mcp add` writes it, hooks in hooks.json; the user approves hooks, not we.
import { join } from 'node:path'
import { type AgentClient, findBy } from '../client.ts'
import type { Machine } from '../machine.ts'
import { command, HOOK_SECONDS, hookLine, jsonFile, tomlServerFile } from './files.ts'

const folder = ({ env, home }: Machine): string => env.CODEX_HOME || join(home, '.codex')

export const codex: AgentClient = {
  name: 'codex',
  title: 'Codex',
  find: (machine) => findBy(machine, ['codex'], [folder(machine)]),
  files(machine, us) {
    const handler = command(hookLine(machine, us, 'codex'), { timeout: HOOK_SECONDS })
    const wanted = { SessionStart: handler, UserPromptSubmit: handler, Stop: handler }
    return [
      tomlServerFile(join(folder(machine), 'config.toml'), us, 'codex'),
      jsonFile(join(folder(machine), 'hooks.json'), us, 'codex', { hooks: { client: 'codex', grouped: true, wanted } }),
    ]
  },
  note: 'Codex runs new hooks only once you have approved them: start codex and answer its question, or type /hooks',
}
