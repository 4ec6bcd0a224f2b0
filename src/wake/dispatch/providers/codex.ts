// Codex, headless: `codex exec --json` with the prompt on standard input (Codex, "Non-interactive mode").
import { eventOf, numberOf, type Provider, plus, SERVER, textOf } from './provider.ts'

/** `exec` has options of its own that `exec resume` does not take: the sandbox is set as configuration, which both do. */
const PERMISSION = {
  read: ['-c', 'sandbox_mode="read-only"', '-c', 'approval_policy="never"'],
  edit: ['-c', 'sandbox_mode="workspace-write"', '-c', 'approval_policy="never"'],
  full: ['--dangerously-bypass-approvals-and-sandbox'],
} as const

/** JSON strings are TOML basic strings. */
const toml = (value: string): string => JSON.stringify(value)

const CALLS = new Set(['mcp_tool_call', 'command_execution', 'web_search', 'collab_tool_call', 'file_change'])

export const codex: Provider = {
  name: 'codex',
  program: 'codex',
  env: ['OPENAI_*', 'CODEX_HOME', 'CODEX_API_KEY', 'AZURE_OPENAI_*'],
  mints: false,
  start({ profile, mode, session, bridge }) {
    const [command = '', ...args] = bridge.command
    const env = Object.entries(bridge.env).map(([name, value]) => `${name}=${toml(value)}`)
    const server = `{command=${toml(command)},args=[${args.map(toml).join(',')}],env={${env.join(',')}},default_tools_approval_mode="approve"}`
    return {
      args: [
        'exec',
        ...(mode === 'resume' && session !== null ? ['resume'] : []),
        '--json',
        '--skip-git-repo-check',
        ...PERMISSION[profile.permission],
        '-c',
        `mcp_servers.${SERVER}=${server}`,
        ...(profile.model === null ? [] : ['-m', profile.model]),
        ...(mode === 'resume' && session !== null ? [session] : []),
        '-',
      ],
    }
  },
  read(event, progress) {
    const item = eventOf(event.item)
    const id = textOf(item.id) ?? ''
    if (event.type === 'thread.started') progress.session = textOf(event.thread_id) ?? progress.session
    else if (event.type === 'item.started' && CALLS.has(String(item.type))) progress.tools.add(id)
    else if (event.type === 'item.completed') {
      progress.tools.delete(id)
      if (item.type === 'agent_message') progress.said = textOf(item.text) ?? progress.said
    } else if (event.type === 'turn.completed') {
      progress.turns = plus(progress.turns, 1)
      progress.tokens = plus(progress.tokens, numberOf(eventOf(event.usage).output_tokens))
      progress.error = null
    } else if (event.type === 'turn.failed') progress.error = textOf(eventOf(event.error).message) ?? 'the turn failed'
    else if (event.type === 'error') progress.error = textOf(event.message) ?? progress.error
  },
}
