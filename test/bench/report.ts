// The results as JSON and as a page to read: the machine, the held ratios with their gates, honesty, and every figure.
import { cpus, loadavg, platform, release, totalmem } from 'node:os'
import type { Bench, Held } from './bench.ts'
import { ENFORCED, GATES, standing } from './gates.ts'

export type Machine = { cpu: string; cores: number; memoryGb: number; system: string; load: number; diskFreeGb: number }

export const machine = (diskFreeGb: number): Machine => ({
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memoryGb: Math.round(totalmem() / 2 ** 30),
  system: `${platform()} ${release()}, Bun ${Bun.version}`,
  load: loadavg()[0] ?? 0,
  diskFreeGb,
})

/** What fails: gates that were missed, and checks that were not met. */
export function faults(bench: Bench): string[] {
  const missed = bench.held.filter(
    ({ gate, median }) => ENFORCED.has(GATES[gate].row) && standing(GATES[gate], median) === 'missed',
  )
  const lies = bench.honesty.filter(({ ok }) => !ok)
  return [
    ...missed.map(
      ({ gate, median }) => `row ${GATES[gate].row}, ${GATES[gate].what}: ${figure(median)} misses ${GATES[gate].gate}`,
    ),
    ...lies.map(({ what, seen }) => `${what}: ${seen}`),
  ]
}

export const toJson = (bench: Bench, on: Machine): string =>
  `${JSON.stringify(
    {
      at: new Date().toISOString(),
      machine: on,
      plan: bench.plan,
      held: bench.held.map((held) => ({
        ...GATES[held.gate],
        ...held,
        standing: standing(GATES[held.gate], held.median),
      })),
      honesty: bench.honesty,
      skipped: bench.skipped,
      rows: bench.rows,
    },
    null,
    2,
  )}\n`

export function toMarkdown(bench: Bench, on: Machine): string {
  const { rounds, ms } = bench.plan
  return [
    '# Benchmark',
    '',
    `${new Date().toISOString()} · ${on.cpu}, ${on.cores} cores, ${on.memoryGb} GB · ${on.system} · load ${on.load.toFixed(2)} · ${on.diskFreeGb} GB free`,
    `${rounds} interleaved rounds of ${ms} ms each; values are min .. **median** .. max over the rounds.`,
    '',
    '## Held',
    ...table(['row', 'ratio', 'gate', 'goal', 'stretch', 'measured', 'stands'], bench.held.map(heldCells)),
    ...section(
      'Skipped, and not evaluated',
      bench.skipped.map(({ what, why }) => `- SKIPPED ${what}: ${why}`),
    ),
    '',
    '## Honest?',
    ...bench.honesty.map(({ what, ok, seen }) => `- ${ok ? 'yes' : '**NO**'}: ${what} (${seen})`),
    '',
    '## Figures',
    ...table(
      ['suite', 'what', 'min', 'median', 'max', 'unit'],
      bench.rows.map((row) => [
        row.suite,
        row.what,
        figure(row.min),
        `**${figure(row.median)}**`,
        figure(row.max),
        row.unit,
      ]),
    ),
    '',
  ].join('\n')
}

function heldCells(held: Held): string[] {
  const gate = GATES[held.gate]
  const sign = gate.bound === 'over' ? '≥' : '≤'
  return [
    gate.row,
    gate.what,
    `${sign} ${gate.gate}`,
    `${sign} ${gate.goal}`,
    `${sign} ${gate.stretch}`,
    `${figure(held.min)} .. **${figure(held.median)}** .. ${figure(held.max)}`,
    standing(gate, held.median),
  ]
}

const section = (title: string, lines: string[]): string[] => (lines.length > 0 ? ['', `## ${title}`, ...lines] : [])

const table = (head: string[], rows: string[][]): string[] =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)

const figure = (value: number): string => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2))
