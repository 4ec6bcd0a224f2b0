// Visual Studio Code: the server in mcp.json of the user's default profile.
import { join } from 'node:path'
import { type AgentClient, findBy } from '../client.ts'
import type { Machine } from '../machine.ts'
import { jsonFile } from './files.ts'

function folder({ env, home, platform }: Machine): string {
  if (platform === 'win32') return join(env.APPDATA || join(home, 'AppData', 'Roaming'), 'Code', 'User')
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'Code', 'User')
  return join(env.XDG_CONFIG_HOME || join(home, '.config'), 'Code', 'User')
}

export const vscode: AgentClient = {
  name: 'vscode',
  title: 'VS Code',
  find: (machine) => findBy(machine, ['code'], [folder(machine)]),
  files: (machine, us) => [
    jsonFile(join(folder(machine), 'mcp.json'), us, 'vscode', {
      server: { at: ['servers'], entry: (command, args) => ({ type: 'stdio', command, args }) },
    }),
  ],
  note: 'VS Code asks before it starts a new server; its agent hooks are a preview of single projects, so none are written',
}
