// Grok: user-level config.toml for an unattended `grok -p` with a model of its own.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Door, type Recipe, SERVER } from './recipe.ts'

function server(door: Door): string {
  const table = `[mcp_servers.${SERVER}]`
  if (door.kind === 'http')
    return `${table}\nurl = "${door.url}"\nheaders = { Authorization = "Bearer ${door.token}" }\n`
  const [command, ...args] = door.command
  const env = Object.entries(door.env).map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
  return `${table}\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\nenv = { ${env.join(', ')} }\n`
}

export const grok: Recipe = {
  prepare({ home, modelUrl, modelKey, door, resume }) {
    const folder = join(home, '.grok')
    mkdirSync(folder, { recursive: true })
    const config = `[cli]
auto_update = false
[model.scripted]
model = "scripted"
base_url = "${modelUrl}/v1"
api_key = "${modelKey}"
${server(door)}`
    writeFileSync(join(folder, 'config.toml'), config, { mode: 0o600 })
    const again = resume ? ['--resume', resume] : []
    return {
      args: [...again, '-m', 'scripted', '--always-approve', '-p', 'follow the script'],
      env: { GROK_HOME: folder },
    }
  },
  through: (server, tool, args) => ({ tool: 'use_tool', args: { tool_name: `${server}__${tool}`, tool_input: args } }),
  shell: (command) => ({ tool: 'run_terminal_command', args: { command, description: 'the script says so' } }),
  unwrap: (result) => result,
}
