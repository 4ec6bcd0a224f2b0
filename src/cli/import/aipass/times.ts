// The times of old mail: `YYYY-MM-DD HH:MM:SS` of the local clock without a zone, and what else was ever written there.

const LOCAL =
  /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?\s*(Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?$/i
/** As in the names of files. */
const COMPACT = /^(\d{4})(\d{2})(\d{2})[_T-]?(\d{2})(\d{2})(\d{2})()()$/
/** RFC 5322, section 3.3: `Mon, 30 Nov 2026 12:00:00 +0100`. */
const MAIL = /^(?:[A-Za-z]{3}, )?\d{1,2} [A-Za-z]{3} \d{4} \d{2}:\d{2}(?::\d{2})? (?:[+-]\d{4}|GMT|UT|Z)$/
const EARLIEST = Date.UTC(1990, 0)
const LATEST = Date.UTC(2100, 0)

/** Milliseconds since the epoch, or null for what is no time. Without a zone the clock of this machine counts, as it did there. */
export function timeOf(value: unknown): number | null {
  const ms = typeof value === 'number' ? fromNumber(value) : typeof value === 'string' ? fromText(value.trim()) : null
  return ms !== null && ms >= EARLIEST && ms < LATEST ? ms : null
}

/** Seconds or milliseconds: no mail is of the first months of 1970. */
const fromNumber = (value: number): number | null =>
  Number.isFinite(value) ? Math.round(value < 100_000_000_000 ? value * 1_000 : value) : null

function fromText(text: string): number | null {
  if (/^\d{9,13}(?:\.\d+)?$/.test(text)) return fromNumber(Number(text))
  if (MAIL.test(text)) return Date.parse(text)
  const found = LOCAL.exec(text) ?? COMPACT.exec(text)
  if (!found) return null
  const [year, month, day, hour = 0, minute = 0, second = 0] = found.slice(1, 7).map((part) => Number(part ?? 0))
  const fraction = Math.floor(Number(`0.${found[7] || '0'}`) * 1_000)
  if (year === undefined || month === undefined || day === undefined) return null
  if (hour > 23 || minute > 59 || second > 60) return null
  const civil = new Date(Date.UTC(year, month - 1, day))
  if (civil.getUTCMonth() !== month - 1 || civil.getUTCDate() !== day) return null // there is no such day
  const zone = found[8]
  if (!zone) return new Date(year, month - 1, day, hour, minute, second, fraction).getTime()
  return Date.UTC(year, month - 1, day, hour, minute, second, fraction) - offsetOf(zone)
}

function offsetOf(zone: string): number {
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone) ?? []
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000
  return sign === '-' ? -offset : offset
}
