// Codex: a config.toml for an unattended `codex exec` with a model provider of its own.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Door, type Hook, type Recipe, SERVER } from './recipe.ts'

const OUTPUT = 'Output:\n'

/** JSON strings are TOML basic strings. */
const quote = (value: string) => JSON.stringify(value)

function server(door: Door): string[] {
  if (door.kind === 'http') {
    return [`[mcp_servers.${SERVER}]`, `url = ${quote(door.url)}`, 'bearer_token_env_var = "MAILBOX_TOKEN"']
  }
  const [command = '', ...args] = door.command
  const env = Object.entries(door.env).map(([name, value]) => `${name} = ${quote(value)}`)
  return [
    `[mcp_servers.${SERVER}]`,
    `command = ${quote(command)}`,
    `args = [${args.map(quote).join(', ')}]`,
    `[mcp_servers.${SERVER}.env]`,
    ...env,
  ]
}

const hooks = (command: Hook) => ({
  hooks: { UserPromptSubmit: [{ hooks: [{ type: 'command', command, timeout: 30 }] }] },
})

export const codex: Recipe = {
  prepare({ home, cwd, modelUrl, modelKey, door, hook, resume }) {
    const folder = join(home, '.codex')
    mkdirSync(folder, { recursive: true })
    const lines = [
      'model = "scripted"',
      'model_provider = "scripted"',
      'check_for_update_on_startup = false',
      '[analytics]',
      'enabled = false',
      '[model_providers.scripted]',
      'name = "scripted"',
      `base_url = ${quote(`${modelUrl}/v1`)}`,
      'wire_api = "responses"',
      'env_key = "SCRIPTED_KEY"',
      `[projects.${quote(cwd)}]`,
      'trust_level = "trusted"',
      ...server(door),
    ]
    writeFileSync(join(folder, 'config.toml'), `${lines.join('\n')}\n`, { mode: 0o600 })
    if (hook) writeFileSync(join(folder, 'hooks.json'), JSON.stringify(hooks(hook)))
    const token: Record<string, string> = door.kind === 'http' ? { MAILBOX_TOKEN: door.token } : {}
    // A person trusts a hook once, in the client's own dialog; here nobody is there to ask.
    const trust = hook ? ['--dangerously-bypass-hook-trust'] : []
    const again = resume ? ['resume', resume] : []
    const flags = ['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox']
    return {
      args: [...trust, 'exec', ...flags, ...again, 'follow the script'],
      env: { CODEX_HOME: folder, SCRIPTED_KEY: modelKey, ...token },
    }
  },
  shell: (command) => ({ tool: 'exec_command', args: { cmd: command, yield_time_ms: 30_000 } }),
  // Codex puts lines of its own (times, exit code) before what a tool gave.
  unwrap: (result) => result.slice(result.indexOf(OUTPUT) + OUTPUT.length),
}
