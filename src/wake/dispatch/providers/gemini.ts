// Gemini CLI, headless: the prompt on standard input, events as JSON lines (Gemini CLI, "Headless mode").
import { eventOf, numberOf, type Provider, SERVER, type Setup, type Start, textOf } from './provider.ts'

const APPROVAL = { read: 'plan', edit: 'auto_edit', full: 'yolo' } as const

/** A settings file of the system, for this run alone: it lies over the user's, and adds our server to theirs. */
export function settingsFile({ profile, bridge }: Setup): string {
  const [command, ...args] = bridge.command
  return JSON.stringify({
    mcpServers: { [SERVER]: { command, args, env: bridge.env, trust: true } },
    model: { maxSessionTurns: profile.maxTurns },
  })
}

export const gemini: Provider = {
  name: 'gemini',
  program: 'gemini',
  env: ['GEMINI_*', 'GOOGLE_*'],
  mints: true,
  start(setup): Start {
    const { profile, mode, session, file } = setup
    return {
      args: [
        '--output-format',
        'stream-json',
        '--approval-mode',
        APPROVAL[profile.permission],
        '--skip-trust',
        ...(profile.model === null ? [] : ['--model', profile.model]),
        ...(session === null ? [] : [mode === 'resume' ? '--resume' : '--session-id', session]),
      ],
      env: { GEMINI_CLI_SYSTEM_SETTINGS_PATH: file('settings.json') },
      files: { 'settings.json': settingsFile(setup) },
    }
  },
  read(event, progress) {
    progress.session = textOf(event.session_id) ?? progress.session
    // a message comes in pieces
    if (event.type === 'message' && event.role === 'assistant')
      progress.said = (progress.said ?? '') + (textOf(event.content) ?? '')
    else if (event.type === 'tool_use') progress.tools.add(textOf(event.tool_id) ?? '')
    else if (event.type === 'tool_result') progress.tools.delete(textOf(event.tool_id) ?? '')
    else if (event.type === 'error' && event.severity !== 'warning')
      progress.error = textOf(event.message) ?? progress.error
    else if (event.type === 'result') {
      progress.tools.clear()
      progress.tokens = numberOf(eventOf(event.stats).output_tokens) ?? progress.tokens
      const error = eventOf(event.error)
      progress.maxTurns = /MaxSessionTurns|TurnLimit/i.test(textOf(error.type) ?? '')
      progress.error = event.status === 'error' ? (textOf(error.message) ?? 'error') : null
    }
  },
}
