// A program of the system that shows a notification: no shell, no input, a bounded time, and what it complains of.
import type { Env } from './desktop.ts'

const PATIENCE_MS = 15_000

export type Command = { words: [string, ...string[]]; env: Env }

/** @throws Error with the program's last words when it fails, cannot be started, or takes too long */
export async function runChild({ words, env }: Command): Promise<void> {
  const child = Bun.spawn(words, {
    env: { ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: PATIENCE_MS,
    killSignal: 'SIGKILL',
  })
  const complaint = (await new Response(child.stderr).text()).trim().split('\n').at(-1) ?? ''
  const code = await child.exited
  if (code !== 0) throw new Error(complaint || `${words[0]} ended with ${child.signalCode ?? code}`)
}
