// Ages that go on by themselves, and the whole time behind them.
import { useEffect, useState } from 'preact/hooks'
import { Followed, useFollowed } from './emitter.ts'

const tick = new Followed(Date.now())
const TICK_MS = 10_000

/** Keeps the ages going while the page is there. */
export function useTicking(): void {
  useEffect(() => {
    const timer = setInterval(() => tick.set(Date.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [])
}

/** Counts up every ten seconds. */
export const useTick = (): number => useFollowed(tick)

const PULSE_MS = 1_000

/** Counts up every second while somebody may be looking. */
export function usePulse(): number {
  const [pulse, setPulse] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => document.hidden || setPulse((count) => count + 1), PULSE_MS)
    return () => clearInterval(timer)
  }, [])
  return pulse
}

/** `5 min` since an RFC 3339 time; with `ago`, as part of a sentence. */
export function Age({ at, ago = false }: { at: string; ago?: boolean }) {
  useTick()
  const secs = (Date.now() - Date.parse(at)) / 1_000
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {secs < 10 ? 'now' : `${span(secs)}${ago ? ' ago' : ''}`}
    </time>
  )
}

/** `12 s`, `5 min`, `3 h`, `12 d`; never parted at the end of a line. */
export function span(secs: number): string {
  if (secs < 60) return `${Math.max(0, Math.floor(secs))}\u00a0s`
  if (secs < 3_600) return `${Math.floor(secs / 60)}\u00a0min`
  return secs < 86_400 ? `${Math.floor(secs / 3_600)}\u00a0h` : `${Math.floor(secs / 86_400)}\u00a0d`
}
