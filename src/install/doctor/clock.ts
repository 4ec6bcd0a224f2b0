// The clock: does it agree with itself? Since the mailbox started, wall clock and monotonic clock must have gone as far.
import { readFileSync } from 'node:fs'
import { rfc3339 } from '../../wire/time.ts'
import type { Checkup } from './checkup.ts'
import { type Found, fine, warn } from './finding.ts'

/** No build of ours is older. */
const EARLIEST = Date.UTC(2026, 0, 1)
/** Milliseconds that a start may take until its time is written down, and that clocks drift. */
const TOLERANCE = 30_000
/** USER_HZ of every Linux that we run on: time(7). */
const TICKS = 100

export async function clock({ machine, now, presence }: Checkup): Promise<Found> {
  const at = now()
  const mend = machine.platform === 'linux' ? 'timedatectl set-ntp true' : 'let the system set the clock'
  if (at < EARLIEST) return warn(`it is ${rfc3339(at)} here, which cannot be`, mend, { now: rfc3339(at) })
  const { note, alive } = await presence()
  const startedAt = note?.startedAt ?? null
  // a mailbox within this very process is younger than the process
  const age = alive && note && note.pid !== process.pid ? ageOf(note.pid) : null
  const facts = { now: rfc3339(at), started_at: startedAt === null ? null : rfc3339(startedAt), age_ms: age }
  if (startedAt === null || age === null) return fine(rfc3339(at), facts)
  const jump = at - age - startedAt
  if (Math.abs(jump) < TOLERANCE) return fine('goes evenly since the mailbox started', { ...facts, jump_ms: jump })
  const secs = Math.round(Math.abs(jump) / 1_000)
  return warn(
    `the clock was set ${jump > 0 ? 'forward' : 'back'} by ${secs} s since the mailbox started; ages of letters are wrong by that`,
    mend,
    { ...facts, jump_ms: jump },
  )
}

/** Milliseconds since that process started, by a clock that nobody sets and that goes on while the machine sleeps: proc_pid_stat(5) field 22, proc_uptime(5). */
function ageOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const start = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19])
    const uptime = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0])
    const age = (uptime - start / TICKS) * 1_000
    return Number.isFinite(age) ? age : null
  } catch {
    return null
  }
}
