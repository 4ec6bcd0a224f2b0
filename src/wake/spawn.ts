// Starting a client's program: by its absolute path, without a shell, without our own variables, its input never in argv.
import { basename, isAbsolute } from 'node:path'
import type { WakeTarget } from './adapter.ts'

/** What marks a process as running inside of an agent, or as one of ours; and what would let it act as somebody else. */
const NOT_PASSED =
  /^(M4A_|CLAUDECODE$|CLAUDE_CODE_|CLAUDE_PID$|CODEX_THREAD_ID$|CODEX_SESSION_ID$|CURSOR_AGENT$|AI_AGENT$|NOTIFY_SOCKET$|INVOCATION_ID$|LISTEN_)/

export function passedOn(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const passed: Record<string, string> = {}
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && !NOT_PASSED.test(name)) passed[name] = value
  return passed
}

/** The executable of the session that was, where that is the client itself; else the one on the path. */
export function programOf(
  name: string,
  { exe }: Pick<WakeTarget, 'exe'>,
  env: Readonly<Record<string, string | undefined>>,
): string | null {
  if (exe !== null && isAbsolute(exe) && basename(exe).replace(/\.exe$/, '') === name) return exe
  return Bun.which(name, { PATH: env.PATH ?? '' })
}

export type Run = {
  env: Readonly<Record<string, string | undefined>>
  more?: Readonly<Record<string, string>>
  cwd: string | null
  /** For its standard input; null: none. */
  input: string | null
}

export type Started = { exited: Promise<number>; end(): void }

/** Starts it; its output is nobody's to read. Throws where it cannot be started. */
export function startProgram(words: readonly string[], { env, more = {}, cwd, input }: Run): Started {
  const child = Bun.spawn([...words], {
    ...(cwd === null ? {} : { cwd }),
    env: { ...passedOn(env), ...more },
    stdin: input === null ? 'ignore' : new Blob([input]),
    stdout: 'ignore',
    stderr: 'ignore',
  })
  return { exited: child.exited, end: () => child.kill('SIGKILL') }
}

/** Runs it to its end; killed when `signal` aborts. */
export async function runProgram(words: readonly string[], run: Run, signal: AbortSignal): Promise<{ code: number }> {
  const { exited, end } = startProgram(words, run)
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  try {
    return { code: await exited }
  } finally {
    signal.removeEventListener('abort', end)
  }
}
