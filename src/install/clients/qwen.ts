// Qwen Code: server and hooks in ~/.qwen/settings.json, the server as `qwen mcp add -s user` writes it.
import { join } from 'node:path'
import { type AgentClient, findBy } from '../client.ts'
import type { Machine } from '../machine.ts'
import { command, HOOK_SECONDS, hookLine, jsonFile } from './files.ts'

const folder = ({ home }: Machine): string => join(home, '.qwen')

export const qwen: AgentClient = {
  name: 'qwen',
  title: 'Qwen Code',
  find: (machine) => findBy(machine, ['qwen'], [folder(machine)]),
  files(machine, us) {
    const handler = command(hookLine(machine, us, 'qwen'), { name: 'mail4agent', timeout: HOOK_SECONDS })
    return [
      jsonFile(join(folder(machine), 'settings.json'), us, 'qwen', {
        // else our tools hide behind Qwen's tool search, and no model knows that it has a mailbox
        server: { at: ['mcpServers'], entry: (command, args) => ({ command, args, alwaysLoadTools: true }) },
        hooks: {
          client: 'qwen',
          grouped: true,
          wanted: { SessionStart: handler, UserPromptSubmit: handler, Stop: handler },
        },
      }),
    ]
  },
}
