// A refusal as people and scripts read it: on stderr, with what to try; with --json the refusal object itself.
import { Refusal } from '../wire/refusal.ts'
import { escapeLine } from './escape.ts'
import { type Paint, plain } from './paint.ts'

/** Anything thrown, as a refusal; what is none is a fault of ours. */
export const asRefusal = (error: unknown): Refusal =>
  error instanceof Refusal
    ? error
    : new Refusal(
        'internal',
        error instanceof Error ? `${error.name}: ${error.message}` : 'something unknown was thrown',
        {},
        'this is a fault of mail4agent; please report it',
      )

/** `refused: …`, where that was, what was seen of the caller, the candidates where there are some, `try: …`. */
export function refusalText(refusal: Refusal, paint: Paint = plain): string {
  const lines = [`${paint('red', 'refused:')} ${escapeLine(refusal.message)}`]
  const { candidates, socket, base, seen } = refusal.facts
  const where = socket ?? base
  if (typeof where === 'string') lines.push(`${paint('dim', 'there:')} ${escapeLine(where)}`)
  if (typeof seen === 'object' && seen !== null)
    lines.push(
      `${paint('dim', 'seen:')} ${escapeLine(
        Object.entries(seen)
          .map(([name, value]) => `${name} ${value}`)
          .join(', '),
      )}`,
    )
  if (Array.isArray(candidates) && candidates.length > 0)
    lines.push(`${paint('dim', 'candidates:')} ${escapeLine(candidates.map(String).join(', '))}`)
  lines.push(`${paint('dim', 'try:')} ${escapeLine(refusal.hint)}`)
  return `${lines.join('\n')}\n`
}
