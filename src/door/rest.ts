// Memory at rest: when nothing is asked of the mailbox, what its start or a burst left behind goes back to the system.
import { handBackCode } from '../attest/linux/code-pages.ts'

const LOOK_MS = 5_000
/** Of the processor time of a look: below it nothing is under way that a collection would delay. */
const IDLE_PART = 0.02
/** Of the processor time of one look: from it on there is something to hand back again. */
const BUSY_MS = 50

/** Looks every few seconds; hands back once after the start, and once after each time of work. Returns what ends it. */
export function startRest(handBack: () => void): () => void {
  let due = true
  let last = process.cpuUsage()
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(last)
    const usedMs = (user + system) / 1_000
    last = process.cpuUsage()
    if (usedMs >= BUSY_MS) due = true
    if (!due || usedMs > LOOK_MS * IDLE_PART) return
    due = false
    handBack()
    last = process.cpuUsage()
  }, LOOK_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/** The heap of this thread, and on Linux the code that is mapped. Never throws. */
export function handBackMemory(): void {
  Bun.gc(true)
  if (process.platform !== 'linux') return
  try {
    handBackCode()
  } catch {
    // /proc is hidden from us: then it stays as it is
  }
}
