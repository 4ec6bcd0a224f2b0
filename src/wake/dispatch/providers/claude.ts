// Claude Code, headless: `claude -p` with the prompt on standard input and events as JSON lines (Claude Code, "Headless mode").
import { type Event, eventOf, eventsOf, numberOf, type Progress, type Provider, SERVER, textOf } from './provider.ts'

const PERMISSION = {
  read: ['--permission-mode', 'plan'],
  edit: ['--permission-mode', 'acceptEdits'],
  full: ['--dangerously-skip-permissions'],
} as const

export const claude: Provider = {
  name: 'claude',
  program: 'claude',
  env: [
    'ANTHROPIC_*',
    'CLAUDE_CONFIG_DIR',
    'CLAUDE_CODE_OAUTH_TOKEN',
    'CLAUDE_CODE_USE_*',
    'CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC',
    'CLAUDE_CODE_MAX_OUTPUT_TOKENS',
    'DISABLE_AUTOUPDATER',
    'DISABLE_TELEMETRY',
    'IS_SANDBOX',
    'AWS_*',
    'CLOUD_ML_REGION',
    'GOOGLE_APPLICATION_CREDENTIALS',
  ],
  mints: true,
  start({ profile, mode, session, file, bridge }) {
    const [command = '', ...args] = bridge.command
    const server = { type: 'stdio', command, args, env: bridge.env, alwaysLoad: true }
    return {
      args: [
        '-p',
        '--mcp-config',
        file('mcp.json'),
        '--allowedTools',
        `mcp__${SERVER}`,
        '--output-format',
        'stream-json',
        '--verbose',
        '--max-turns',
        String(profile.maxTurns),
        ...PERMISSION[profile.permission],
        ...(profile.model === null ? [] : ['--model', profile.model]),
        ...(session === null ? [] : [mode === 'resume' ? '--resume' : '--session-id', session]),
      ],
      files: { 'mcp.json': JSON.stringify({ mcpServers: { [SERVER]: server } }) },
    }
  },
  read: readClaudeEvent,
}

/** Also the form of Qwen Code. */
export function readClaudeEvent(event: Event, progress: Progress): void {
  progress.session = textOf(event.session_id) ?? progress.session
  if (event.type === 'assistant') {
    for (const part of eventsOf(eventOf(event.message).content))
      if (part.type === 'tool_use') progress.tools.add(textOf(part.id) ?? '')
      else if (part.type === 'text') progress.said = textOf(part.text) ?? progress.said
  } else if (event.type === 'user') {
    for (const part of eventsOf(eventOf(event.message).content))
      if (part.type === 'tool_result') progress.tools.delete(textOf(part.tool_use_id) ?? '')
  } else if (event.type === 'result') {
    progress.tools.clear()
    progress.turns = numberOf(event.num_turns) ?? progress.turns
    progress.cost = numberOf(event.total_cost_usd) ?? progress.cost
    progress.tokens = numberOf(eventOf(event.usage).output_tokens) ?? progress.tokens
    progress.maxTurns = event.subtype === 'error_max_turns'
    progress.status = numberOf(event.api_error_status)
    if (event.is_error === true)
      progress.error =
        textOf(event.result) ?? firstOf(event.errors) ?? textOf(eventOf(event.error).message) ?? textOf(event.subtype)
  }
}

const firstOf = (errors: unknown): string | null => (Array.isArray(errors) ? textOf(errors[0]) : null)
