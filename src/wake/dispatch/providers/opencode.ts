// opencode, headless: `opencode run --format json` with the prompt on standard input (opencode, "CLI: run").
import { eventOf, numberOf, type Provider, plus, SERVER, textOf } from './provider.ts'

export const opencode: Provider = {
  name: 'opencode',
  program: 'opencode',
  env: ['OPENCODE_*', 'ANTHROPIC_*', 'OPENAI_*', 'GOOGLE_*', 'GEMINI_*', 'OPENROUTER_*', 'npm_config_offline'],
  mints: false,
  start({ profile, mode, session, bridge }) {
    const server = { type: 'local', command: bridge.command, environment: bridge.env }
    const deny = profile.permission === 'read' ? { permission: { edit: 'deny', bash: 'deny' } } : {}
    return {
      args: [
        'run',
        '--format',
        'json',
        ...(profile.permission === 'full' ? ['--auto'] : []),
        ...(profile.model === null ? [] : ['--model', profile.model]),
        ...(mode === 'resume' && session !== null ? ['--session', session] : []),
      ],
      // it is merged over the configuration files; a path is in it, no secret
      env: { OPENCODE_CONFIG_CONTENT: JSON.stringify({ mcp: { [SERVER]: server }, ...deny }) },
    }
  },
  read(event, progress) {
    progress.session = textOf(event.sessionID) ?? progress.session
    const part = eventOf(event.part)
    if (event.type === 'text') progress.said = textOf(part.text) ?? progress.said
    else if (event.type === 'step_finish') {
      progress.turns = plus(progress.turns, 1)
      progress.cost = plus(progress.cost, numberOf(part.cost))
      progress.tokens = plus(progress.tokens, numberOf(eventOf(part.tokens).output))
    } else if (event.type === 'error') {
      const error = eventOf(event.error)
      const data = eventOf(error.data)
      progress.status = numberOf(data.statusCode) ?? progress.status
      progress.error = textOf(data.message) ?? textOf(error.message) ?? textOf(error.name) ?? 'error'
    }
  },
}
