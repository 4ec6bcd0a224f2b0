// The law book for as long as it is told: `bun test/law/long.ts [seconds]`; M4A_LAW_SEED begins with that seed.
import { report } from '../support/results.ts'
import { type Ran, runHistories } from './run.ts'
import { hardStep, sideBySide } from './steps.ts'
import { World } from './world.ts'

const seconds = Number(process.argv[2] ?? 600)
const first = Number(process.env.M4A_LAW_SEED ?? Date.now() % 1_000_000_000)
const began = performance.now()
const left = () => seconds - (performance.now() - began) / 1_000
const seeds: number[] = []
const sum: Ran = { histories: 0, steps: 0, widest: 1 }
await using world = await World.start()

// by turns, each with a seed of its own, so that the one that fails is short to repeat
for (let seed = first; left() > 1; seed++) {
  const step = seed % 3 === 2 ? sideBySide : hardStep
  seeds.push(seed)
  const ran = await runHistories(world, { seed, seconds: Math.min(60, left()), histories: 60, steps: 60, step })
  sum.histories += ran.histories
  sum.steps += ran.steps
  sum.widest = Math.max(sum.widest, ran.widest)
}

report({
  suite: 'law',
  topic: 'law',
  what: 'the engine’s rules as a model beside the compiled mailbox, every answer compared; calls side by side explained by some order',
  run: `M4A_KEEP_RESULTS=1 npm run bun -- test/law/long.ts ${seconds}`,
  seconds: Math.round((performance.now() - began) / 100) / 10,
  cases: { count: sum.histories, what: 'histories' },
  seeds,
  faults: world.faults,
  load: '5 and more sessions, HTTP, socket, MCP in both eras, command line',
  lost: 0,
  wrong: 0,
  figures: { steps: sum.steps, 'calls compared': world.calls },
})
