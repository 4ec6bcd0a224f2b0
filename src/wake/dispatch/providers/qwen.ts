// Qwen Code, headless: as Gemini CLI, from which it comes, with the events of Claude Code (Qwen Code, "Headless mode").
import { readClaudeEvent } from './claude.ts'
import { settingsFile } from './gemini.ts'
import type { Provider } from './provider.ts'

const APPROVAL = { read: 'plan', edit: 'auto-edit', full: 'yolo' } as const

export const qwen: Provider = {
  name: 'qwen',
  program: 'qwen',
  env: ['OPENAI_*', 'DASHSCOPE_*', 'QWEN_*', 'GEMINI_*'],
  mints: true,
  start(setup) {
    const { profile, mode, session, file } = setup
    return {
      args: [
        '--output-format',
        'stream-json',
        '--approval-mode',
        APPROVAL[profile.permission],
        '--max-session-turns',
        String(profile.maxTurns),
        ...(profile.model === null ? [] : ['--model', profile.model]),
        ...(session === null ? [] : [mode === 'resume' ? '--resume' : '--session-id', session]),
      ],
      env: { QWEN_CODE_SYSTEM_SETTINGS_PATH: file('settings.json') },
      files: { 'settings.json': settingsFile(setup) },
    }
  },
  read: readClaudeEvent,
}
