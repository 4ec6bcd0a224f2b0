// The table [keep] of the configuration: how many days what is closed is kept.
import { DEFAULT_POLICY, LEAST_DAYS, type Policy } from '../store/keeping/policy.ts'
import { Refusal } from '../wire/refusal.ts'

const FOREVER = 'forever'
const KEYS = { closed_days: 'closedDays', events_days: 'eventsDays' } as const

/** @throws Refusal `usage`: what is removed is gone, so nothing is guessed */
export function keepIn(table: unknown, path: string): Policy {
  if (table === undefined) return DEFAULT_POLICY
  if (typeof table !== 'object' || table === null || Array.isArray(table))
    throw wrong(path, 'keep', 'is no table', '[keep], and below it closed_days = 90')
  const policy = { ...DEFAULT_POLICY }
  for (const [key, value] of Object.entries(table)) {
    const name = Object.hasOwn(KEYS, key) ? KEYS[key as keyof typeof KEYS] : undefined
    if (name === undefined)
      throw wrong(path, `keep.${key.slice(0, 100)}`, 'is an unknown key', Object.keys(KEYS).join(' or '))
    policy[name] = daysOf(value, `keep.${key}`, path)
  }
  return policy
}

function daysOf(value: unknown, key: string, path: string): number | null {
  if (value === FOREVER) return null
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= LEAST_DAYS && value < 1_000_000) return value
  throw wrong(path, key, `is no number of days from ${LEAST_DAYS} on`, `${LEAST_DAYS} or more, or "${FOREVER}"`)
}

const wrong = (path: string, key: string, what: string, right: string): Refusal =>
  new Refusal('usage', `${key} in ${path} ${what}`, { key }, `write ${right}`)
