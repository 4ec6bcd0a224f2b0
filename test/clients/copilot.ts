// Copilot CLI: user-level mcp-config.json for an unattended `copilot -p`, offline, with a provider of its own.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Door, type Recipe, SERVER } from './recipe.ts'

function server(door: Door) {
  if (door.kind === 'http')
    return { type: 'http', url: door.url, headers: { Authorization: `Bearer ${door.token}` }, tools: ['*'] }
  const [command, ...args] = door.command
  return { type: 'local', command, args, env: door.env, tools: ['*'] }
}

export const copilot: Recipe = {
  prepare({ home, modelUrl, modelKey, door, resume }) {
    const folder = join(home, '.copilot')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'mcp-config.json'), JSON.stringify({ mcpServers: { [SERVER]: server(door) } }))
    const env = {
      COPILOT_OFFLINE: 'true',
      COPILOT_PROVIDER_BASE_URL: `${modelUrl}/v1`,
      COPILOT_PROVIDER_API_KEY: modelKey,
      COPILOT_MODEL: 'scripted',
    }
    const again = resume ? [`--resume=${resume}`] : []
    return { args: [...again, '--allow-all', '-p', 'follow the script'], env }
  },
  shell: (command) => ({ tool: 'bash', args: { command, description: 'the script says so' } }),
  unwrap: (result) => result,
}
