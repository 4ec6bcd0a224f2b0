// Every agent client that the installer knows, in the order in which they are shown.
import type { AgentClient, ClientName } from '../client.ts'
import { claude } from './claude.ts'
import { codex } from './codex.ts'
import { copilot } from './copilot.ts'
import { cursor } from './cursor.ts'
import { gemini } from './gemini.ts'
import { grok } from './grok.ts'
import { kimi } from './kimi.ts'
import { opencode } from './opencode.ts'
import { qwen } from './qwen.ts'
import { vscode } from './vscode.ts'

export const AGENT_CLIENTS: Readonly<Record<ClientName, AgentClient>> = {
  claude,
  codex,
  gemini,
  opencode,
  cursor,
  vscode,
  qwen,
  kimi,
  grok,
  copilot,
}
