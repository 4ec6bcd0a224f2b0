// What became of a send or a reply, for people: one line, and what they should know beside it.
import type { SendAnswer } from '../wire/answers.ts'
import type { Context } from './context.ts'
import { escapeLine } from './escape.ts'

/** Prints the answer. Exit code 1 when a recipient among several was refused: the others have it. */
export function sentText(context: Context, answer: SendAnswer): number {
  const stored = answer.results.filter((result) => result.ok)
  const refused = answer.results.filter((result) => !result.ok)
  context.show(answer, () => {
    const known = answer.duplicate ? 'already sent' : 'sent'
    const from = `as ${answer.from_text}`
    return `${known} ${answer.message_id} to ${escapeLine(stored.map((result) => result.to_text).join(', '))} ${from}\n`
  })
  if (context.json) return refused.length === 0 ? 0 : 1
  if (answer.more_results !== undefined) context.say(`and ${answer.more_results} more recipients`)
  if (answer.closed !== undefined) context.say(`closed ${answer.closed}`)
  if (answer.superseded) context.say(`replaced ${answer.superseded} earlier with the same key`)
  if (answer.wake_suppressed !== undefined) context.say(`stored, but it wakes nobody: ${answer.wake_suppressed}`)
  const warned = Map.groupBy(stored, ({ warning }) => warning)
  for (const [warning, those] of warned)
    if (warning !== undefined) context.say(`${those.map(({ to_text }) => to_text).join(', ')}: ${escapeLine(warning)}`)
  for (const { to_text, refusal } of refused)
    context.say(`refused: ${escapeLine(`${to_text}: ${refusal?.message ?? 'unknown reason'}`)}`)
  return refused.length === 0 ? 0 : 1
}
