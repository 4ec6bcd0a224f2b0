// Runs a command in this process, with streams, environment, folder and clock of the test's own.
import { runCommand } from '../../../src/cli/cli.ts'
import type { Io } from '../../../src/cli/io.ts'

export type Ran = { code: number; out: string; err: string }

export type Shell = Partial<Omit<Io, 'input' | 'out' | 'err'>> & { stdin?: string | Uint8Array }

/** 2026-11-30T12:00:00Z, the moment at which the texts of the golden files were made. */
export const NOW = Date.UTC(2026, 10, 30, 12)

export function io(shell: Shell, out: string[], err: string[]): Io {
  const input = typeof shell.stdin === 'string' ? new TextEncoder().encode(shell.stdin) : shell.stdin
  return {
    env: {},
    token: null,
    cwd: '/nowhere',
    home: '/nowhere',
    platform: 'linux',
    program: 'mail4agent',
    now: () => NOW,
    outColumns: null,
    errIsTerminal: false,
    inIsTerminal: false,
    stopSignal: () => new AbortController().signal,
    input: async () => input ?? new Uint8Array(),
    async *inputStream() {
      if (input) yield input
    },
    ...shell,
    out: (text) => void out.push(text),
    err: (text) => void err.push(text),
  }
}

export async function sh(argv: readonly string[], shell: Shell = {}): Promise<Ran> {
  const out: string[] = []
  const err: string[] = []
  const code = await runCommand(argv, io(shell, out, err))
  return { code, out: out.join(''), err: err.join('') }
}
