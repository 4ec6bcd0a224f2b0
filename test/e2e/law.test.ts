// The law book beside the compiled mailbox: histories with kills, restarts, clock jumps and calls side by side, every answer compared.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Ran, runHistories } from '../law/run.ts'
import { hardStep, sideBySide } from '../law/steps.ts'
import { World } from '../law/world.ts'
import { report } from '../support/results.ts'

const SECONDS = 35
/** A known one, so that the same histories run everywhere; the long form takes new ones. */
const seed = Number(process.env.M4A_LAW_SEED ?? 94_003_107)

let world: World
beforeAll(async () => {
  world = await World.start()
})
afterAll(() => world[Symbol.asyncDispose]())

const all: Ran = { histories: 0, steps: 0, widest: 1 }
test.each([
  ['sessions at every door, one after another and together', hardStep, 40],
  ['closing, claiming, answering and sending side by side', sideBySide, 16],
] as const)(
  '%s',
  async (_, step, steps) => {
    console.log(`M4A_LAW_SEED=${seed}`)
    const ran = await runHistories(world, { seed, seconds: SECONDS, histories: 40, steps, step })
    expect(ran.histories).toBeGreaterThan(0)
    all.histories += ran.histories
    all.steps += ran.steps
  },
  10 * SECONDS * 1_000,
)

test('what was run', () => {
  report({
    suite: 'law-bounded',
    topic: 'law',
    what: 'the engine’s rules as a model beside the compiled mailbox, in the bounded form of CI',
    run: `M4A_LAW_SEED=${seed} npm run bun -- test --timeout 180000 test/e2e/law.test.ts`,
    seconds: 2 * SECONDS,
    cases: { count: all.histories, what: 'histories' },
    seeds: [seed],
    faults: world.faults,
    load: null,
    lost: 0,
    wrong: 0,
    figures: { steps: all.steps, 'calls compared': world.calls },
  })
})
