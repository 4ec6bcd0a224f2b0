// Copilot CLI: the server in ~/.copilot/mcp-config.json as `copilot mcp add` writes it, hooks in ~/.copilot/settings.json.
import { join } from 'node:path'
import { type AgentClient, findBy } from '../client.ts'
import type { Machine } from '../machine.ts'
import { HOOK_SECONDS, hookLine, jsonFile } from './files.ts'

const folder = ({ home }: Machine): string => join(home, '.copilot')

export const copilot: AgentClient = {
  name: 'copilot',
  title: 'Copilot CLI',
  find: (machine) => findBy(machine, ['copilot'], [folder(machine)]),
  files(machine, us) {
    const shell = machine.platform === 'win32' ? 'powershell' : 'bash'
    const call = machine.platform === 'win32' ? '& ' : ''
    const on = (event: string) => ({
      type: 'command',
      [shell]: `${call}${hookLine(machine, us, 'copilot', event)}`,
      timeoutSec: HOOK_SECONDS,
    })
    const wanted = {
      sessionStart: on('sessionStart'),
      userPromptSubmitted: on('userPromptSubmitted'),
      agentStop: on('agentStop'),
    }
    return [
      jsonFile(join(folder(machine), 'mcp-config.json'), us, 'copilot', {
        server: { at: ['mcpServers'], entry: (command, args) => ({ tools: ['*'], type: 'local', command, args }) },
      }),
      jsonFile(join(folder(machine), 'settings.json'), us, 'copilot', {
        hooks: { client: 'copilot', grouped: false, wanted },
      }),
    ]
  },
}
