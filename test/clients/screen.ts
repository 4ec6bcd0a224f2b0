// How each client is started as a person has it: on a screen, idle until somebody types or mail wakes it.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Json } from '../support/json.ts'
import type { Prepared } from './agent.ts'
import type { AnyClient } from './install.ts'
import { startInTerminal, type Terminal } from './terminal.ts'

/** Arguments of a session with a screen, in place of those of an unattended turn. */
const ARGS: Partial<Record<AnyClient, string[]>> = {
  claude: ['--dangerously-skip-permissions'],
  codex: ['follow the script'],
  opencode: ['--prompt', 'follow the script'],
  grok: ['-m', 'scripted', '--always-approve', 'follow the script'],
  copilot: ['--allow-all', '-i', 'follow the script'],
  gemini: ['--approval-mode', 'yolo', '-m', 'gemini-2.5-flash', '-i', 'follow the script'],
  qwen: ['--approval-mode', 'yolo', '--input-file', 'input.jsonl', '-i', 'follow the script'],
}

/** What its user has said once, in its own dialogs. */
export function consent(agent: Prepared): void {
  if (agent.client === 'qwen') {
    writeFileSync(join(agent.cwd, 'input.jsonl'), '')
    // requests of its own between the turns would use up lines of the script
    const path = join(agent.home, '.qwen', 'settings.json')
    const settings: Json = JSON.parse(readFileSync(path, 'utf8'))
    writeFileSync(path, JSON.stringify({ ...Object(settings), ui: { enableFollowupSuggestions: false } }))
  }
  if (agent.client === 'codex') {
    const path = join(agent.home, '.codex', 'config.toml')
    const settings = ['approval_policy = "never"', 'sandbox_mode = "danger-full-access"']
    // no dialog about hooks: the daemon, which is meant here, has no option to skip it
    const features = ['[features]', 'hooks = false']
    writeFileSync(path, [...settings, readFileSync(path, 'utf8'), ...features, ''].join('\n'))
  }
  if (agent.client === 'grok') {
    const path = join(agent.home, '.grok', 'config.toml')
    writeFileSync(path, readFileSync(path, 'utf8').replace('[cli]\n', '[cli]\nuse_leader = true\n'))
  }
  if (agent.client === 'copilot')
    writeFileSync(join(agent.home, '.copilot', 'config.json'), JSON.stringify({ trusted_folders: [agent.cwd] }))
  if (agent.client !== 'claude') return
  const path = join(agent.home, '.claude', 'settings.json')
  const settings: Json = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {}
  writeFileSync(path, JSON.stringify({ ...Object(settings), skipDangerousModePermissionPrompt: true }))
}

/** The client in a terminal, with what it needs to sit there. */
export const startOnScreen = (agent: Prepared): Terminal => startInTerminal(agent, ARGS[agent.client] ?? [])
