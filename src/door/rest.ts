// Memory at rest: the code that only the start needed goes back to the system.
import { handBackCode } from '../attest/linux/code-pages.ts'

/**
 * Milliseconds from the start. Once, and never a collection with it: one that shrinks the heap throws the compiled code away, too,
 * and whoever calls after a pause waits twice as long (measured: the page of an inbox).
 */
const AFTER_MS = 5_000

/** Hands back the code of the start soon after it. Returns what ends the wait. */
export function startRest(): () => void {
  const timer = setTimeout(handBack, AFTER_MS)
  timer.unref()
  return () => clearTimeout(timer)
}

function handBack(): void {
  if (process.platform !== 'linux') return
  try {
    handBackCode()
  } catch {
    // /proc is hidden from us: then it stays as it is
  }
}
