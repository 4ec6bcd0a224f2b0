// Cursor and its CLI: the server in ~/.cursor/mcp.json, hooks in ~/.cursor/hooks.json.
import { join } from 'node:path'
import { type AgentClient, findBy } from '../client.ts'
import type { Machine } from '../machine.ts'
import { hookLine, jsonFile } from './files.ts'

const folder = ({ home }: Machine): string => join(home, '.cursor')

export const cursor: AgentClient = {
  name: 'cursor',
  title: 'Cursor',
  find: (machine) => findBy(machine, ['cursor', 'cursor-agent'], [folder(machine)]),
  files(machine, us) {
    const on = (event: string) => ({ command: hookLine(machine, us, 'cursor', event) })
    const wanted = {
      sessionStart: on('sessionStart'),
      beforeSubmitPrompt: on('beforeSubmitPrompt'),
      stop: { ...on('stop'), loop_limit: 3 },
    }
    return [
      jsonFile(join(folder(machine), 'mcp.json'), us, 'cursor', {
        server: { at: ['mcpServers'], entry: (command, args) => ({ command, args }) },
      }),
      jsonFile(join(folder(machine), 'hooks.json'), us, 'cursor', {
        first: { version: 1 },
        hooks: { client: 'cursor', grouped: false, wanted },
      }),
    ]
  },
  note: 'hooks speak in the Cursor CLI; in the editor the agent finds its mail with the tools',
}
