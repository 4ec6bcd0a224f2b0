// The card of a session in its three groups: what the kernel says, what was read beside it, what it says itself.
import type { Card } from '../wire/card.ts'
import { clock } from './times.ts'

type Pairs = [string, string | null][]

/** One line a fact, its group in front; a corroborated one with its source behind. */
export function cardFacts({ attested, corroborated, declared }: Card): Pairs {
  const { sources, ...read } = corroborated
  return [
    ['attested pid', String(attested.pid)],
    ['attested start', clock(new Date(attested.started_at_unix_ms).toISOString())],
    ['attested exe', attested.exe],
    ['attested uid', String(attested.uid)],
    ['attested parent', attested.spawned_by],
    ...Object.entries(read).map(([name, value]): [string, string | null] => [
      `found ${name.replaceAll('_', ' ')}`,
      value === null ? null : `${value}${sources[name] === undefined ? '' : ` (${sources[name]})`}`,
    ]),
    ...Object.entries(declared).map(([name, value]): [string, string | null] => [
      `says ${name.replaceAll('_', ' ')}`,
      value,
    ]),
  ]
}
