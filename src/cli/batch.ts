// What became of several ids, one line each.
import type { BatchResult } from '../wire/answers.ts'
import { Refusal } from '../wire/refusal.ts'
import type { Context } from './context.ts'
import { escapeLine } from './escape.ts'
import { factLines, forPerson } from './refused.ts'

/** `done` is the word for those that worked. */
export const settledText = (done: string, results: readonly BatchResult[]): string =>
  results
    .filter((result) => result.ok)
    .map((result) => `${done} ${result.message_id}\n`)
    .join('')

/** Says on stderr what was refused. Exit code 1 when anything was. */
export function settledExit(context: Context, results: readonly BatchResult[]): number {
  const refused = results.filter((result) => !result.ok)
  if (!context.json)
    for (const { message_id, refusal } of refused) {
      context.say(`refused: ${message_id}: ${escapeLine(refusal?.message ?? 'unknown reason')}`)
      const known = Refusal.from(refusal)
      if (known === null) continue
      for (const [name, value] of factLines(known.facts, context.io.now())) context.say(`${name}: ${escapeLine(value)}`)
      context.say(`try: ${escapeLine(forPerson(known, null).hint)}`)
    }
  return refused.length === 0 ? 0 : 1
}
