// Grok: the server in ~/.grok/config.toml, and a file of our own among its personal hooks.
import { join } from 'node:path'
import { type AgentClient, findBy } from '../client.ts'
import type { Machine } from '../machine.ts'
import { command, HOOK_SECONDS, hookLine, ownFile, tomlServerFile } from './files.ts'

const folder = ({ home }: Machine): string => join(home, '.grok')

export const grok: AgentClient = {
  name: 'grok',
  title: 'Grok',
  find: (machine) => findBy(machine, ['grok'], [folder(machine)]),
  files(machine, us) {
    // the one moment whose words reach its model
    const group = { hooks: [command(hookLine(machine, us, 'grok', 'PostToolUse'), { timeout: HOOK_SECONDS })] }
    return [
      tomlServerFile(join(folder(machine), 'config.toml'), us, 'grok'),
      ownFile(
        join(folder(machine), 'hooks', 'mail4agent.json'),
        `${JSON.stringify({ hooks: { PostToolUse: [group] } }, null, 2)}\n`,
      ),
    ]
  },
}
