// When a process started, as a time of day: for people to read, never to tell processes apart.
import { readFileSync } from 'node:fs'
import { uptime } from 'node:os'

/** Clock ticks a second in /proc/PID/stat: USER_HZ, 100 on every Linux that we build for. */
const TICKS = 100

/** Milliseconds since the epoch, from start ticks since boot. Moves when the clock is stepped, so it is asked once a process. */
export function startedAt(ticks: number): number {
  return Math.max(0, Math.round(Date.now() - secondsUp() * 1000 + (ticks / TICKS) * 1000))
}

/** proc_uptime(5) has hundredths; node:os may round to seconds. */
function secondsUp(): number {
  try {
    return Number.parseFloat(readFileSync('/proc/uptime', 'latin1'))
  } catch {
    return uptime()
  }
}
