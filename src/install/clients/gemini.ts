// Gemini CLI: server and hooks in ~/.gemini/settings.json, the server as `gemini mcp add -s user` writes it.
import { join } from 'node:path'
import { type AgentClient, findBy } from '../client.ts'
import type { Machine } from '../machine.ts'
import { command, HOOK_SECONDS, hookLine, jsonFile } from './files.ts'

const folder = ({ home }: Machine): string => join(home, '.gemini')

export const gemini: AgentClient = {
  name: 'gemini',
  title: 'Gemini CLI',
  find: (machine) => findBy(machine, ['gemini'], [folder(machine)]),
  files(machine, us) {
    // its times are milliseconds
    const handler = command(hookLine(machine, us, 'gemini'), { name: 'mail4agent', timeout: HOOK_SECONDS * 1_000 })
    return [
      jsonFile(join(folder(machine), 'settings.json'), us, 'gemini', {
        server: { at: ['mcpServers'], entry: (command, args) => ({ command, args }) },
        hooks: {
          client: 'gemini',
          grouped: true,
          wanted: { SessionStart: handler, BeforeAgent: handler, AfterAgent: handler },
        },
      }),
    ]
  },
  note: 'Gemini CLI starts servers only in folders that you trust',
}
