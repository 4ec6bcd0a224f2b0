// Qwen Code: user-level settings for an unattended `qwen -p` with an OpenAI-compatible provider.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Door, type Recipe, SERVER } from './recipe.ts'

function server(door: Door) {
  // else Qwen hides its tools behind a search
  const alwaysLoadTools = true
  if (door.kind === 'http')
    return { httpUrl: door.url, headers: { Authorization: `Bearer ${door.token}` }, alwaysLoadTools }
  const [command, ...args] = door.command
  return { command, args, env: door.env, alwaysLoadTools }
}

export const qwen: Recipe = {
  prepare({ home, cwd, modelUrl, modelKey, door }) {
    const folder = join(home, '.qwen')
    mkdirSync(folder, { recursive: true })
    const settings = {
      security: { auth: { selectedType: 'openai' } },
      general: { disableAutoUpdate: true },
      privacy: { usageStatisticsEnabled: false },
      mcpServers: { [SERVER]: server(door) },
    }
    writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings, null, 2), { mode: 0o600 })
    writeFileSync(join(folder, 'trustedFolders.json'), JSON.stringify({ [cwd]: 'TRUST_FOLDER' }))
    return {
      args: ['--approval-mode', 'yolo', '-p', 'follow the script'],
      env: { OPENAI_BASE_URL: `${modelUrl}/v1`, OPENAI_API_KEY: modelKey, OPENAI_MODEL: 'scripted' },
    }
  },
  shell: (command) => ({ tool: 'run_shell_command', args: { command } }),
  unwrap: (result) => result,
}
