// Kimi Code: the server in ~/.kimi-code/mcp.json, hooks as tables of config.toml.
import { join } from 'node:path'
import { type AgentClient, findBy } from '../client.ts'
import { dropTomlHooks, putTomlHooks } from '../edit/toml-hooks.ts'
import { isOurHook, type Machine } from '../machine.ts'
import { hookLine, isBlank, jsonFile } from './files.ts'

const folder = ({ env, home }: Machine): string => env.KIMI_CODE_HOME || join(home, '.kimi-code')

export const kimi: AgentClient = {
  name: 'kimi',
  title: 'Kimi Code',
  find: (machine) => findBy(machine, ['kimi'], [folder(machine)]),
  files(machine, us) {
    // at a prompt alone: it goes on after a turn only for a hook that fails, and ours never do
    const wanted = { UserPromptSubmit: hookLine(machine, us, 'kimi', 'UserPromptSubmit') }
    const form = { isOurs: (line: string) => isOurHook(line, 'kimi', us) }
    return [
      jsonFile(join(folder(machine), 'mcp.json'), us, 'kimi', {
        server: { at: ['mcpServers'], entry: (command, args) => ({ command, args }) },
      }),
      {
        path: join(folder(machine), 'config.toml'),
        put: (text) => putTomlHooks(text, wanted, form),
        drop: (text) => dropTomlHooks(text, form),
        isFrame: isBlank,
        onlyExisting: 'start kimi once, which makes its configuration, then run this again for its hooks',
      },
    ]
  },
}
