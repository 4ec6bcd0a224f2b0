// Times for people: local clock with its zone, and the age, so that nobody has to guess either.

/** `2026-11-30 19:02:11 +01:00` for an RFC 3339 time. */
export function clock(timestamp: string): string {
  const time = new Date(timestamp)
  const two = (value: number) => String(value).padStart(2, '0')
  const offset = -time.getTimezoneOffset()
  const zone = `${offset < 0 ? '-' : '+'}${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())} ${zone}`
}

/** `12 s`, `5 min`, `3 h`, `12 d`. */
export function span(secs: number): string {
  if (secs < 60) return `${Math.max(0, Math.floor(secs))} s`
  if (secs < 3_600) return `${Math.floor(secs / 60)} min`
  return secs < 86_400 ? `${Math.floor(secs / 3_600)} h` : `${Math.floor(secs / 86_400)} d`
}

/** Clock and age: `2026-11-30 19:02:11 +01:00 (5 min ago)`; `now` is the mailbox's own, from the same answer. */
export function clockAndAge(timestamp: string, now: string): string {
  const secs = (Date.parse(now) - Date.parse(timestamp)) / 1_000
  return `${clock(timestamp)} (${secs <= -1 ? `in ${span(-secs)}` : `${span(secs)} ago`})`
}
