// Times on the wire: RFC 3339 UTC with milliseconds, and the older *_unix_ms beside them.
import { Type } from '@sinclair/typebox'

export const Timestamp = Type.String({ description: 'RFC 3339, UTC, milliseconds' })
/** The end of the year 9999: RFC 3339 has years of four digits. */
const LATEST = Date.UTC(10_000, 0) - 1
export const UnixMs = Type.Integer({
  minimum: 0,
  maximum: LATEST,
  description: 'milliseconds since 1970-01-01T00:00:00Z',
})

/** `ms` since the epoch as RFC 3339 UTC with milliseconds. */
export function rfc3339(ms: number): string {
  // many answers fall into one second, and printing a date costs more than the rest of a small answer
  const second = Math.floor(ms / 1000)
  if (second !== lastSecond) {
    lastText = new Date(second * 1000).toISOString().slice(0, -'000Z'.length)
    lastSecond = second
  }
  return `${lastText}${String(Math.floor(ms) - second * 1000).padStart(3, '0')}Z`
}
let lastSecond = Number.NaN
let lastText = ''

export const rfc3339OrNull = (ms: number | null): string | null => (ms === null ? null : rfc3339(ms))
