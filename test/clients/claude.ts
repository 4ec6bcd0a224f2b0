// Claude Code: user-level configuration for an unattended `claude -p`, without an account.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Door, type Hook, type Recipe, SERVER } from './recipe.ts'

/** The server must be loaded at once: Claude else defers its tools behind a search tool. */
function server(door: Door) {
  if (door.kind === 'stdio') {
    const [command, ...args] = door.command
    return { type: 'stdio', command, args, env: door.env, alwaysLoad: true }
  }
  return { type: 'http', url: door.url, headers: { Authorization: `Bearer ${door.token}` }, alwaysLoad: true }
}

const hooks = (command: Hook) => ({
  hooks: { UserPromptSubmit: [{ hooks: [{ type: 'command', command, timeout: 30 }] }] },
})

export const claude: Recipe = {
  prepare({ home, cwd, modelUrl, modelKey, door, hook, resume }) {
    const config = {
      hasCompletedOnboarding: true,
      theme: 'dark',
      customApiKeyResponses: { approved: [modelKey.slice(-20)], rejected: [] },
      projects: { [cwd]: { hasTrustDialogAccepted: true } },
      mcpServers: { [SERVER]: server(door) },
    }
    writeFileSync(join(home, '.claude.json'), JSON.stringify(config), { mode: 0o600 })
    mkdirSync(join(home, '.claude'), { recursive: true })
    if (hook) writeFileSync(join(home, '.claude', 'settings.json'), JSON.stringify(hooks(hook)))
    const env = {
      ANTHROPIC_BASE_URL: modelUrl,
      ANTHROPIC_API_KEY: modelKey,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      // Claude refuses to skip its permission prompts as root unless it is told that it runs in a sandbox.
      IS_SANDBOX: '1',
    }
    const again = resume ? ['--resume', resume] : []
    return { args: ['-p', 'follow the script', '--dangerously-skip-permissions', ...again], env }
  },
  shell: (command) => ({ tool: 'Bash', args: { command, description: 'the script says so' } }),
  unwrap: (result) => result,
}
