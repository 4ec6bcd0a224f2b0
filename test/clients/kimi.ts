// Kimi Code: user-level configuration for an unattended `kimi -p` with an OpenAI-compatible provider.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Door, type Recipe, SERVER } from './recipe.ts'

function server(door: Door) {
  if (door.kind === 'http') return { url: door.url, headers: { Authorization: `Bearer ${door.token}` } }
  const [command, ...args] = door.command
  return { command, args, env: door.env }
}

export const kimi: Recipe = {
  prepare({ home, modelUrl, modelKey, door, resume }) {
    const folder = join(home, '.kimi-code')
    mkdirSync(folder, { recursive: true })
    const config = `default_model = "scripted"
[providers.scripted]
type = "openai"
base_url = "${modelUrl}/v1"
api_key = "${modelKey}"
[models.scripted]
provider = "scripted"
model = "scripted"
max_context_size = 200000
`
    writeFileSync(join(folder, 'config.toml'), config, { mode: 0o600 })
    writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers: { [SERVER]: server(door) } }))
    const again = resume ? ['-S', resume] : []
    return { args: [...again, '-m', 'scripted', '-p', 'follow the script'], env: { KIMI_CODE_HOME: folder } }
  },
  shell: (command) => ({ tool: 'Bash', args: { command } }),
  unwrap: (result) => result.replace(/^Wall time: .*\n/, ''),
}
