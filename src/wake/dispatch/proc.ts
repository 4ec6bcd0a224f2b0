// What proc(5) says of the processes of this machine: parents, sessions, start times, one variable of an environment.
import { readdirSync, readFileSync } from 'node:fs'

export type Seen = {
  pid: number
  ppid: number
  /** Session, credentials(7): the pid of its leader, which no other process gets while the session lasts. */
  sid: number
  /** Clock ticks since boot, as the kernel gives them. */
  start: string
}

/** Names one process once: the pid alone is used again. */
export type Instance = { pid: number; start: string }

let boot: string | null = null
/** Names this boot of the machine. */
export function bootId(): string {
  boot ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  return boot
}

/** The process that has this pid now; null where there is none. A zombie has ended. */
export function seenAt(pid: number): Seen | null {
  let line: string
  try {
    line = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    return null
  }
  // the name may hold anything, also `) R 1`: the last `)` ends it
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  const [state, ppid, , sid] = fields
  const start = fields[19]
  if (state === 'Z' || state === 'X' || start === undefined) return null
  return { pid, ppid: Number(ppid), sid: Number(sid), start }
}

/** Does that very process run, in this boot? */
export const runs = ({ pid, start }: Instance): boolean => seenAt(pid)?.start === start

export function everyProcess(): Seen[] {
  const found: Seen[] = []
  for (const name of readdirSync('/proc')) {
    const pid = Number(name)
    const seen = Number.isInteger(pid) ? seenAt(pid) : null
    if (seen) found.push(seen)
  }
  return found
}

/** Had the process this entry in its environment when it was started? False where that is not ours to read. */
export function wasStartedWith(pid: number, entry: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(entry)
  } catch {
    return false
  }
}
