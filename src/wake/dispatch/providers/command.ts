// Any program: the operator names it with its arguments, the prompt comes on standard input. It answers with the mail4agent command.
import { numberOf, type Provider, textOf } from './provider.ts'

/** It may print JSON lines with `session_id`, `turns`, `cost_usd`, `tokens`, `error`; whatever else it prints is kept as it is. */
export const command: Provider = {
  name: 'command',
  program: null,
  env: [],
  mints: false,
  start: ({ profile, mode, session }) => ({
    args: profile.args,
    env: mode === 'resume' && session !== null ? { M4A_SESSION: session } : {},
  }),
  read(event, progress) {
    progress.session = textOf(event.session_id) ?? progress.session
    progress.turns = numberOf(event.turns) ?? progress.turns
    progress.cost = numberOf(event.cost_usd) ?? progress.cost
    progress.tokens = numberOf(event.tokens) ?? progress.tokens
    progress.error = textOf(event.error) ?? progress.error
  },
}
