// What is left of an attempt for people to read: the end of its standard error, and what the agent said last.
import { filesOf, tailOf } from './attempt-files.ts'
import type { Progress } from './providers/provider.ts'

const BYTES = 4_096
const LINES = 20
const SAID = 400

/** Events of the client are no text for people: what they tell is in `progress`, and whatever else was printed is kept. */
export function evidenceIn(folder: string, { said }: Pick<Progress, 'said'>): string {
  const { out, err } = filesOf(folder)
  const errors = linesOf(err)
  const words = said === null ? [] : excerpt(said.trim()).split('\n')
  const printed = errors.length + words.length > 0 ? [] : linesOf(out).filter((line) => !line.startsWith('{'))
  return [...errors, ...words, ...printed].slice(-LINES).join('\n')
}

function linesOf(path: string): string[] {
  const text = tailOf(path, BYTES)
  const lines = text.trim().split('\n')
  // one that is longer than what we look at begins somewhere in its middle
  const whole = Buffer.byteLength(text) >= BYTES && lines.length > 1 ? lines.slice(1) : lines
  return whole.filter((line) => line !== '').slice(-LINES)
}

const excerpt = (text: string): string => (text.length > SAID ? `…${text.slice(-SAID)}` : text)
