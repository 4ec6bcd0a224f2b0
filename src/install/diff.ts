// The difference between two texts as a unified diff: what `up` shows before it writes.

type Step = { kind: ' ' | '-' | '+'; line: string }

const CONTEXT = 3
const NO_END = '\\ No newline at end of file'

/** Empty where the texts are the same. `before` null: a new file. */
export function unifiedDiff(path: string, before: string | null, after: string): string {
  if (before === after) return ''
  const steps = stepsOf(linesOf(before ?? ''), linesOf(after))
  const hunks = hunksOf(steps).map((hunk) => hunkText(steps, hunk))
  return [`--- ${before === null ? '/dev/null' : path}`, `+++ ${path}`, ...hunks].join('\n').concat('\n')
}

/** Lines with their line feeds: the last one may have none. */
const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

function stepsOf(a: string[], b: string[]): Step[] {
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++
  const same = (lines: string[]): Step[] => lines.map((line) => ({ kind: ' ', line }))
  const middle = shortest(a.slice(head, a.length - tail), b.slice(head, b.length - tail))
  return [...same(a.slice(0, head)), ...middle, ...same(a.slice(a.length - tail))]
}

/** E. W. Myers, "An O(ND) Difference Algorithm and Its Variations" (1986), the greedy one. */
function shortest(a: string[], b: string[]): Step[] {
  const trace: Map<number, number>[] = []
  const reached = new Map([[1, 0]])
  const at = (ways: Map<number, number>, k: number) => ways.get(k) ?? -1
  const goesDown = (ways: Map<number, number>, k: number, d: number) =>
    k === -d || (k !== d && at(ways, k - 1) < at(ways, k + 1))
  search: for (let d = 0; ; d++) {
    trace.push(new Map(reached))
    for (let k = -d; k <= d; k += 2) {
      let x = goesDown(reached, k, d) ? at(reached, k + 1) : at(reached, k - 1) + 1
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++
      reached.set(k, x)
      if (x >= a.length && x - k >= b.length) break search
    }
  }
  const steps: Step[] = []
  let x = a.length
  let y = b.length
  for (let d = trace.length - 1; d >= 0; d--) {
    const ways = trace[d] ?? new Map<number, number>()
    const k = x - y
    const before = goesDown(ways, k, d) ? k + 1 : k - 1
    const fromX = d === 0 ? 0 : at(ways, before)
    const fromY = d === 0 ? 0 : fromX - before
    while (x > fromX && y > fromY) {
      steps.push({ kind: ' ', line: a[--x] ?? '' })
      y--
    }
    if (d === 0) break
    if (x === fromX) steps.push({ kind: '+', line: b[--y] ?? '' })
    else steps.push({ kind: '-', line: a[--x] ?? '' })
  }
  return steps.reverse()
}

type Hunk = { from: number; to: number }

/** Runs of changes with their surroundings; those that touch are one. */
function hunksOf(steps: readonly Step[]): Hunk[] {
  const hunks: Hunk[] = []
  for (const [index, { kind }] of steps.entries()) {
    if (kind === ' ') continue
    const from = Math.max(0, index - CONTEXT)
    const to = Math.min(steps.length, index + CONTEXT + 1)
    const last = hunks.at(-1)
    if (last && from <= last.to) last.to = to
    else hunks.push({ from, to })
  }
  return hunks
}

function hunkText(steps: readonly Step[], { from, to }: Hunk): string {
  const count = (part: readonly Step[], other: '-' | '+') => part.filter(({ kind }) => kind !== other).length
  const front = steps.slice(0, from)
  const part = steps.slice(from, to)
  const range = (other: '-' | '+') => {
    const lines = count(part, other)
    return `${count(front, other) + (lines === 0 ? 0 : 1)},${lines}`
  }
  const lines = part.map(({ kind, line }) =>
    line.endsWith('\n') ? kind + line.slice(0, -1) : `${kind}${line}\n${NO_END}`,
  )
  return [`@@ -${range('+')} +${range('-')} @@`, ...lines].join('\n')
}
