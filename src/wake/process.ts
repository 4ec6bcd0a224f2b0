// What the command line of a client shows of its doors: proc_pid_cmdline(5). Only for a process that is proved to be that client.
import { readFileSync } from 'node:fs'
import type { WakeTarget } from './adapter.ts'

/** Empty where this system does not show it, or it has ended. */
export function argumentsOf({ process }: WakeTarget): string[] {
  if (process === null) return []
  try {
    return readFileSync(`/proc/${process.pid}/cmdline`, 'utf8').split('\0').slice(0, -1)
  } catch {
    return []
  }
}

/** The value of `--name value` or `--name=value`. */
export function optionOf(words: readonly string[], name: string): string | null {
  const at = words.indexOf(name)
  if (at >= 0) return words[at + 1] ?? null
  return words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1) ?? null
}
