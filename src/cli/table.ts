// Rows for people: aligned columns on a terminal, tab-separated lines in a pipe.
import { escapeLine } from './escape.ts'
import type { Paint } from './paint.ts'

/** `columns` is the width of the terminal, null for a pipe: there nothing is cut, so that programs get all of it. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  columns: number | null,
  paint: Paint,
): string {
  const safe = rows.map((row) => row.map(escapeLine))
  if (columns === null) return [head, ...safe].map((row) => `${row.join('\t')}\n`).join('')
  const widths = head.map((title, at) =>
    Math.max(...[title, ...safe.map((row) => row[at] ?? '')].map((cell) => Bun.stringWidth(cell))),
  )
  const line = (row: readonly string[]) =>
    row
      .map((cell, at) => pad(cell, widths[at] ?? 0))
      .join('  ')
      .trimEnd()
  const title = paint('dim', cut(line(head), columns))
  return [title, ...safe.map((row) => cut(line(row), columns))].map((text) => `${text}\n`).join('')
}

/** Name and value, one pair a line; pairs without a value are left out. */
export function facts(pairs: readonly (readonly [string, string | null | undefined])[], paint: Paint): string {
  const shown = pairs.filter((pair): pair is readonly [string, string] => typeof pair[1] === 'string' && pair[1] !== '')
  const width = Math.max(0, ...shown.map(([name]) => name.length))
  return shown.map(([name, value]) => `${paint('dim', name.padEnd(width))}  ${escapeLine(value)}\n`).join('')
}

const pad = (cell: string, width: number): string => cell + ' '.repeat(Math.max(0, width - Bun.stringWidth(cell)))

/** `line` on one row of the terminal; cut between characters. */
export function cut(line: string, columns: number): string {
  if (Bun.stringWidth(line) <= columns) return line
  let kept = ''
  for (const character of line) {
    if (Bun.stringWidth(kept + character) > columns - 1) break
    kept += character
  }
  return `${kept}…`
}
