// A mailbox in the background without a service manager: started apart from us, its pid recorded, stopped by that pid alone.
import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { privateFolder } from '../door/folders.ts'

/** Where its log goes. */
export const logPath = (dataDir: string): string => join(dataDir, 'serve.log')

/**
 * Starts `words` in a session of its own, so that it outlives the terminal. Resolves to its pid when it runs.
 * @throws the system's error when it cannot be started
 */
export async function startBackground(
  words: readonly string[],
  dataDir: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  privateFolder(dataDir)
  const log = openSync(logPath(dataDir), 'a', 0o600)
  try {
    const [program = '', ...rest] = words
    const child = spawn(program, rest, { cwd: dataDir, env: { ...env }, detached: true, stdio: ['ignore', log, log] })
    await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject))
    child.unref()
    return child.pid ?? 0
  } finally {
    closeSync(log)
  }
}

/** Bytes in its log: what is written from now on is of the one that is started next. */
export const logEnd = (dataDir: string): number => statSync(logPath(dataDir), { throwIfNoEntry: false })?.size ?? 0

/** Why it did not come up, by the end of its log behind the byte `from`: what it refused, else the last line. */
export function lastWords(dataDir: string, from: number): string {
  try {
    const text = readFileSync(logPath(dataDir)).subarray(from).toString('utf8')
    const lines = text.trimEnd().split('\n').slice(-REFUSAL_LINES)
    const refused = lines.findLast((line) => line.startsWith(REFUSED))
    return refused === undefined ? (lines.at(-1) ?? '') : refused.slice(REFUSED.length)
  } catch {
    return ''
  }
}

/** A refusal, facts, and what to try. */
const REFUSAL_LINES = 6
const REFUSED = 'refused: '

/** Asks it to stop and waits, at most `ms`. True: it has gone. Call it only for a pid that a running mailbox says is its own. */
export async function stopBackground(pid: number, ms: number): Promise<boolean> {
  if (!signal(pid, 'SIGTERM')) return true
  for (const end = performance.now() + ms; performance.now() < end; await Bun.sleep(50))
    if (!signal(pid, 0)) return true
  return false
}

/** Does that process still run? */
export const isRunning = (pid: number): boolean => signal(pid, 0)

function signal(pid: number, name: 'SIGTERM' | 0): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}
