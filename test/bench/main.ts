// `npm run bench -- [suite…]`: measures the compiled binary beside its peers. --quick for CI, --gate to fail on a missed gate,
// --claude-peers PATH for a checkout of that peer.
import { mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Bench } from './bench.ts'
import { faults, machine, toJson, toMarkdown } from './report.ts'
import { benchAttest } from './suites/attest.ts'
import { benchBoot } from './suites/boot.ts'
import { benchCli } from './suites/cli.ts'
import { benchCycle } from './suites/cycle.ts'
import { benchFairness } from './suites/fairness.ts'
import { benchGrowth } from './suites/growth.ts'
import { checkHonesty } from './suites/honesty.ts'
import { benchHttp } from './suites/http.ts'
import { benchInbox } from './suites/inbox.ts'
import { benchLeak } from './suites/leak.ts'
import { benchMcp } from './suites/mcp.ts'
import { benchMixed } from './suites/mixed.ts'
import { benchSend } from './suites/send.ts'
import { benchWake } from './suites/wake.ts'

const SUITES = {
  send: benchSend,
  inbox: benchInbox,
  wake: benchWake,
  cycle: benchCycle,
  mixed: benchMixed,
  http: benchHttp,
  mcp: benchMcp,
  cli: benchCli,
  attest: benchAttest,
  boot: benchBoot,
  growth: benchGrowth,
  fairness: benchFairness,
  leak: benchLeak,
  honesty: checkHonesty,
}
/** statfs(2): a file system in memory has nothing to sync. */
const TMPFS = 0x01021994

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    gate: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    'claude-peers': { type: 'string' },
    dir: { type: 'string', default: tmpdir() },
  },
})
if (process.platform !== 'linux') throw new Error('the benchmark reads /proc: it needs Linux')

const folder = mkdtempSync(join(values.dir, 'm4a-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const disk = statfsSync(folder)
const on = machine(Math.round((disk.bavail * disk.bsize) / 2 ** 30))
const plan = values.quick ? { rounds: 3, ms: 700 } : { rounds: 5, ms: 2_000 }
if (values.rounds !== undefined) plan.rounds = Number(values.rounds)
const bench = new Bench(folder, plan, values.quick, values['claude-peers'] ?? null)
bench.honest('the data lies on a disk', disk.type !== TMPFS, `file system type 0x${disk.type.toString(16)}`)

const chosen = positionals.length > 0 ? positionals : Object.keys(SUITES)
for (const name of chosen) if (!Object.hasOwn(SUITES, name)) throw new Error(`no suite ${name}: ${Object.keys(SUITES)}`)
for (const [name, suite] of Object.entries(SUITES)) {
  if (!chosen.includes(name)) continue
  const start = performance.now()
  await suite(bench)
  process.stderr.write(`${name}: ${((performance.now() - start) / 1000).toFixed(0)} s\n`)
}

const results = join(import.meta.dir, 'results')
mkdirSync(results, { recursive: true })
// a part of the suites never takes the place of a whole run
const part = chosen.length < Object.keys(SUITES).length ? `-${chosen.join('-')}` : ''
const file = `${values.quick ? 'quick' : 'full'}${part}`
await Bun.write(join(results, `${file}.json`), toJson(bench, on))
await Bun.write(join(results, `${file}.md`), toMarkdown(bench, on))
process.stdout.write(toMarkdown(bench, on))

const failed = faults(bench)
for (const fault of failed) process.stderr.write(`missed: ${fault}\n`)
process.exit(values.gate && failed.length > 0 ? 1 : 0)
