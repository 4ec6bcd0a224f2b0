// Memory at rest: what the start or a burst left behind goes back to the system.
import { handBackCode } from '../attest/linux/code-pages.ts'

const LOOK_MS = 5_000
/** Of the processor time of a look: below it nothing is under way that a collection would delay. */
const IDLE_PART = 0.02
/** Milliseconds of processor time in one look: from it on there is something to hand back again. */
const BUSY_MS = 50

/** Hands back the code of the start soon after it, and code and heap once after each time of work. Returns what ends it. */
export function startRest(): () => void {
  let isFirst = true
  let isDue = true
  let last = process.cpuUsage()
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(last)
    const usedMs = (user + system) / 1_000
    if (usedMs >= BUSY_MS) isDue = true
    const isIdle = usedMs <= LOOK_MS * IDLE_PART
    if (isDue && isIdle) Bun.gc(true)
    if (isFirst || (isDue && isIdle)) handBack()
    if (isIdle) isDue = false
    isFirst = false
    last = process.cpuUsage()
  }, LOOK_MS)
  timer.unref()
  return () => clearInterval(timer)
}

function handBack(): void {
  if (process.platform !== 'linux') return
  try {
    handBackCode()
  } catch {
    // /proc is hidden from us: then it stays as it is
  }
}
