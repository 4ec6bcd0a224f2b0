// The README's table of what the hard suites ran, made from their kept results.
import type { Result } from './results.ts'

const TOPICS: readonly Result['topic'][] = ['law', 'faults', 'fuzz', 'limits', 'soak', 'upgrades']
const BEGIN = '<!-- results: made by UPDATE_GOLDEN=1 npm test -->'
const END = '<!-- end of results -->'

/** As Markdown, by topic and suite. */
export function reliabilityTable(results: readonly Result[]): string {
  const rows = [...results].sort(
    (a, b) => TOPICS.indexOf(a.topic) - TOPICS.indexOf(b.topic) || a.suite.localeCompare(b.suite, 'en'),
  )
  return [
    '| | what was done | cases | seeds | faults | under | lost | wrong |',
    '|---|---|---|---|---|---|---|---|',
    ...rows.map((row) => `| ${cells(row).join(' | ')} |`),
  ].join('\n')
}

function cells({ topic, what, cases, seeds, faults, load, lost, wrong, figures }: Result): string[] {
  const more = Object.entries(figures).map(([name, value]) => `${name} ${shown(value)}`)
  return [
    topic,
    [what, ...more].join('; '),
    `${shown(cases.count)} ${cases.what}`,
    seeds.length === 0
      ? ''
      : seeds.length > 3
        ? `${seeds.slice(0, 2).join(', ')} and ${seeds.length - 2} more`
        : seeds.join(', '),
    Object.entries(faults)
      .map(([name, count]) => `${shown(count)} × ${name}`)
      .join(', '),
    load ?? '',
    shown(lost),
    shown(wrong),
  ]
}

const shown = (value: number | string): string => (typeof value === 'number' ? value.toLocaleString('en') : value)

/** The table as it stands in the README, or null where its marks are not there. */
export function tableIn(readme: string): string | null {
  const [from, to] = [readme.indexOf(BEGIN), readme.indexOf(END)]
  return from < 0 || to < from ? null : readme.slice(from + BEGIN.length, to).trim()
}

/** The README with that table in its place. */
export const withTable = (readme: string, table: string): string =>
  `${readme.slice(0, readme.indexOf(BEGIN) + BEGIN.length)}\n${table}\n${readme.slice(readme.indexOf(END))}`
