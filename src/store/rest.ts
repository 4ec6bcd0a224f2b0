// A thread at rest: once its work has paused, what the work left on its heap goes back to the system.

const LOOK_MS = 5_000

/** Returns what the thread calls for each piece of work; collects once, one to two looks after the last of it. */
export function restAfterWork(): () => void {
  let busy = true
  let due = true
  const timer = setInterval(() => {
    if (busy) due = true
    else if (due) {
      due = false
      Bun.gc(true)
    }
    busy = false
  }, LOOK_MS)
  timer.unref()
  return () => {
    busy = true
  }
}
