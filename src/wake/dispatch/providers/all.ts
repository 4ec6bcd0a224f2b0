// The providers by name.
import { claude } from './claude.ts'
import { codex } from './codex.ts'
import { command } from './command.ts'
import { gemini } from './gemini.ts'
import { opencode } from './opencode.ts'
import type { Provider } from './provider.ts'
import { qwen } from './qwen.ts'

const ALL: readonly Provider[] = [claude, codex, opencode, gemini, qwen, command]

export const providerNamed = (name: string): Provider | undefined => ALL.find((provider) => provider.name === name)
