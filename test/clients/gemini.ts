// Gemini CLI: user-level settings for an unattended `gemini -p` with a key of its own and a folder that is trusted.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Door, type Recipe, SERVER } from './recipe.ts'

function server(door: Door) {
  if (door.kind === 'http') return { type: 'http', url: door.url, headers: { Authorization: `Bearer ${door.token}` } }
  const [command, ...args] = door.command
  return { command, args, env: door.env }
}

export const gemini: Recipe = {
  prepare({ home, cwd, modelUrl, modelKey, door }) {
    const folder = join(home, '.gemini')
    mkdirSync(folder, { recursive: true })
    const settings = {
      security: { auth: { selectedType: 'gemini-api-key' } },
      general: { disableAutoUpdate: true },
      privacy: { usageStatisticsEnabled: false },
      mcpServers: { [SERVER]: server(door) },
    }
    writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings, null, 2), { mode: 0o600 })
    writeFileSync(join(folder, 'trustedFolders.json'), JSON.stringify({ [cwd]: 'TRUST_FOLDER' }))
    return {
      args: ['-m', 'gemini-2.5-flash', '--approval-mode', 'yolo', '-p', 'follow the script'],
      env: { GOOGLE_GEMINI_BASE_URL: modelUrl, GEMINI_API_KEY: modelKey },
    }
  },
  shell: (command) => ({ tool: 'run_shell_command', args: { command } }),
  // it marks what comes from outside
  unwrap: (result) => result.replace(/^<untrusted_context>\n?/, '').replace(/\n?<\/untrusted_context>\s*$/, ''),
}
