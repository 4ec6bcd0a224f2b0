// The long form: node src/bun.mjs run test/fuzz/main.ts [seconds for each target] [seed]. Findings go into the corpus; exit 1 with any.
import { rmSync } from 'node:fs'
import { report } from '../support/results.ts'
import { corpusOf, fuzz, keep } from './fuzz.ts'
import { leftovers, TARGETS } from './targets.ts'

const [seconds = 20, seed = Date.now() % 2 ** 31] = process.argv.slice(2).map(Number)
/** Entries of each corpus. */
const KEPT = 12

const began = performance.now()
let inputs = 0
let found = 0
for (const [name, target] of Object.entries(TARGETS)) {
  const result = await fuzz(name, target, seed, seconds * 1000)
  inputs += result.inputs
  console.log(`${name}: ${result.inputs} inputs, ${result.ways} ways to end, ${result.findings.length} findings`)
  // a start for the next run: the first of each way to end, a few and small
  const small = result.fresh.filter((one) => one.length > 0 && one.length < 1_500)
  for (const input of small.slice(0, Math.max(0, KEPT - corpusOf(name).length))) keep({ target: name, input }, 'way')
  for (const finding of result.findings) {
    found++
    console.log(`  ${finding.why}\n  ${keep(finding)}`)
  }
}
rmSync(leftovers, { recursive: true })
report({
  suite: 'fuzz-readers',
  topic: 'fuzz',
  what: `the ${Object.keys(TARGETS).length} readers of what kernels, clients, files, homeservers and hooks write, on changed inputs`,
  run: `M4A_KEEP_RESULTS=1 node src/bun.mjs run test/fuzz/main.ts ${seconds} ${seed}`,
  seconds: (performance.now() - began) / 1000,
  cases: { count: inputs, what: 'inputs' },
  seeds: [seed],
  faults: {},
  load: null,
  lost: 0,
  wrong: found,
  figures: {},
})
process.exit(found > 0 ? 1 : 0)
