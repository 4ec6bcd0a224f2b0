// Claude Code's own record of a running session: `sessions/PID.json` in its folder says whether it is at work.
import { join } from 'node:path'
import type { WakeTarget } from '../adapter.ts'
import { namesIn, readRecord, textOf } from '../files.ts'

export type ClaudeRecord = {
  sessionId: string
  cwd: string | null
  /** `idle`, `busy`, `waiting` (for an answer of its user) */
  status: string | null
  socket: string | null
}

export function claudeFolder({ environment }: WakeTarget): string | null {
  if (environment.CLAUDE_CONFIG_DIR) return environment.CLAUDE_CONFIG_DIR
  return environment.HOME ? join(environment.HOME, '.claude') : null
}

/** Null where that very process has none: pids are reused, so its start time has to be the same. */
export function claudeRecord(target: WakeTarget): ClaudeRecord | null {
  const folder = claudeFolder(target)
  if (folder === null || target.process === null) return null
  const { pid, start } = target.process
  const record = readRecord(join(folder, 'sessions', `${pid}.json`))
  const sessionId = textOf(record?.sessionId)
  if (record === null || record.pid !== pid || record.procStart !== start || sessionId === null) return null
  return {
    sessionId,
    cwd: textOf(record.cwd),
    status: textOf(record.status),
    socket: textOf(record.messagingSocketPath),
  }
}

/** The file of what is said in that session. It names each project after its folder. */
export function claudeTranscript(target: WakeTarget, { cwd, sessionId }: ClaudeRecord): string | null {
  const folder = claudeFolder(target)
  if (folder === null || cwd === null) return null
  return join(folder, 'projects', cwd.replaceAll(/[^A-Za-z0-9]/g, '-'), `${sessionId}.jsonl`)
}

/** The key of its inbox socket, which its owner alone may read. */
export function claudePeerToken(target: WakeTarget): string | null {
  const folder = claudeFolder(target)
  const process = target.process
  if (folder === null || process === null) return null
  const sessions = join(folder, 'sessions')
  const name = namesIn(sessions).find((file) => file.startsWith(`${process.pid}.`) && file.endsWith('.key'))
  return name === undefined ? null : textOf(readRecord(join(sessions, name), true)?.peerToken)
}
