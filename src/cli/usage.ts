// How a wrong command line is refused: named, with the nearest right word.
import { Refusal } from '../wire/refusal.ts'

/** @returns a refusal that exits with 2 */
export const usage = (message: string, hint?: string): Refusal => new Refusal('usage', message, {}, hint)

/** The one of `names` that `word` was meant as, or null: at most a third of it differs. */
export function nearest(word: string, names: readonly string[]): string | null {
  let best: { name: string; distance: number } | null = null
  for (const name of names) {
    const distance = editDistance(word.toLowerCase(), name)
    if (distance <= Math.max(1, Math.floor(name.length / 3)) && distance < (best?.distance ?? Number.POSITIVE_INFINITY))
      best = { name, distance }
  }
  return best?.name ?? names.find((name) => word.length > 1 && name.startsWith(word.toLowerCase())) ?? null
}

/** Levenshtein's, where two letters in the wrong order count once (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let cost = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1)
      next.push(cost)
    }
    before = row
    row = next
  }
  return row[b.length] ?? 0
}

/**
 * A whole number of `unit`s.
 * @throws Refusal `usage` naming `option`
 */
export function wholeNumber(option: string, text: string, least = 0, most = Number.MAX_SAFE_INTEGER): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (value >= least && value <= most) return value
  const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `${least} to ${most}`
  throw usage(`${option} takes a whole number, ${range}`)
}

/** How long, for the help of an option. */
export const DURATIONS = '90s, 10m, 2h, 1d, 1w'
/** Since when, for the help of an option. */
export const MOMENTS = `${DURATIONS}, 2026-11-30 or 2026-11-30T08:00Z`

/**
 * Seconds from `90`, `90s`, `10m`, `2h`, `1d` or `1w`, at most `most`.
 * @throws Refusal `usage` naming `option`
 */
export function seconds(option: string, text: string, most = Number.POSITIVE_INFINITY): number {
  const [, count = '', unit = 's'] = /^(\d{1,9})([smhdw]?)$/.exec(text) ?? []
  if (count === '') throw usage(`${option} takes a time such as ${DURATIONS}`)
  const value = Number(count) * ({ s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 }[unit] ?? 1)
  if (value > most)
    throw usage(`${option} is ${text}, the limit is ${most % 3_600 === 0 ? `${most / 3_600}h` : `${most}s`}`)
  return value
}

/**
 * Milliseconds since the epoch of a moment: `2d` ago, or a date and time.
 * @throws Refusal `usage` naming `option`
 */
export function moment(option: string, text: string, now: number): number {
  if (/^\d{1,9}[smhdw]?$/.test(text)) return Math.max(0, now - seconds(option, text) * 1_000)
  const time = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:\d{2}))?$/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(time) || time < 0) throw usage(`${option} takes a time such as ${MOMENTS}`)
  return time
}

/**
 * Whole seconds since a moment, as `moment` takes it; 0 for one that is to come.
 * @throws Refusal `usage` naming `option`
 */
export const age = (option: string, text: string, now: number): number =>
  Math.max(0, Math.floor((now - moment(option, text, now)) / 1_000))

/** @throws Refusal `usage` naming `option` */
export function oneOf<const T extends string>(option: string, text: string, names: readonly T[]): T {
  const found = names.find((name) => name === text)
  if (found === undefined) throw usage(`${option} takes one of ${names.join(', ')}`)
  return found
}
