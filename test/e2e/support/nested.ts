// Runs tests in a process of their own: with another runtime, or with other sources behind them.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Throws, with all that they said, unless tests ran and all of them passed. `wrap`: the command that runs them. */
export function passNested(words: readonly string[], env: Record<string, string>, wrap: readonly string[] = []): void {
  const folder = mkdtempSync(join(tmpdir(), 'm4a-nested-'))
  // not a pipe: what a test leaves running for a while would keep it open
  const said = Bun.file(join(folder, 'said'))
  const command = [...wrap, process.execPath, 'test', '--timeout', '60000', ...words]
  const options = { env: { ...process.env, ...env }, stdout: 'ignore', stderr: said, timeout: 280_000 } as const
  const { success } = Bun.spawnSync(command, options)
  const text = readFileSync(join(folder, 'said'), 'utf8')
  rmSync(folder, { recursive: true })
  if (!success || !/^ *[1-9]\d* pass$/m.test(text) || !/^ *0 fail$/m.test(text)) throw new Error(text)
}
