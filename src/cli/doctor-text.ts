// What people read of doctor: a line for each finding, what to do below it, then what was mended and what can be.
import type { Finding, Level } from '../install/doctor/finding.ts'
import type { Mended } from '../install/doctor/mend.ts'
import { callFrom } from './call-us.ts'
import type { Context } from './context.ts'
import { escapeLine } from './escape.ts'
import type { Tone } from './paint.ts'

const TONES: Readonly<Record<Level, Tone>> = { ok: 'green', warn: 'yellow', fail: 'red' }
const MARK = 6

export function doctorText(context: Context, { examined, fixed, unfixed }: Mended): string {
  const { paint } = context
  const findings = examined.map(({ finding }) => finding)
  const width = Math.max(...findings.map(({ check }) => check.length))
  const lines = findings.flatMap(({ check, level, what, todo }) => [
    `${paint(TONES[level], level.padEnd(MARK))}${check.padEnd(width)}  ${escapeLine(what)}`,
    ...(todo === null ? [] : [`${' '.repeat(MARK)}${paint('dim', 'try:')} ${escapeLine(todo)}`]),
  ])
  for (const line of fixed) lines.push(`${paint('green', 'fixed')} ${escapeLine(line)}`)
  for (const { check, reason, todo } of unfixed) {
    lines.push(`${paint('red', 'not fixed')} ${check}: ${escapeLine(reason)}`)
    if (todo !== null) lines.push(`${' '.repeat(MARK)}${paint('dim', 'try:')} ${escapeLine(todo)}`)
  }
  lines.push(summary(findings))
  const mendable = examined.filter(({ fix }) => fix !== null).length
  if (mendable > 0 && !context.options.fix)
    lines.push(`mend ${mendable} of them, and what comes to light then, with: ${callFrom(context)} doctor --fix`)
  return lines.map((line) => `${line}\n`).join('')
}

function summary(findings: readonly Finding[]): string {
  const count = (wanted: Level) => findings.filter(({ level }) => level === wanted).length
  const some = (n: number, one: string) => `${n} ${one}${n === 1 ? '' : 's'}`
  if (count('fail') + count('warn') === 0) return 'all is well'
  return `${count('ok')} ok, ${some(count('warn'), 'warning')}, ${some(count('fail'), 'failure')}`
}
