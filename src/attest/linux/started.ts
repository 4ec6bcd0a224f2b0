// When a process started, as a time of day: for people to read, never to tell processes apart.
import { readFileSync } from 'node:fs'
import { uptime } from 'node:os'

/** Clock ticks a second in /proc/PID/stat: USER_HZ, 100 on every Linux that we build for. */
const TICKS = 100

/** Clock and uptime are not read in one moment: only a difference above this says that the clock was set. */
const STEP_MS = 1000
let bootMs = 0

/** Milliseconds since the epoch, from start ticks since boot: in the order of the ticks for as long as nobody sets the clock. */
export function startedAt(ticks: number): number {
  const now = Date.now() - secondsUp() * 1000
  if (Math.abs(now - bootMs) > STEP_MS) bootMs = now
  return Math.max(0, Math.round(bootMs + (ticks / TICKS) * 1000))
}

/** proc_uptime(5) has hundredths; node:os may round to seconds. */
function secondsUp(): number {
  try {
    return Number.parseFloat(readFileSync('/proc/uptime', 'latin1'))
  } catch {
    return uptime()
  }
}
