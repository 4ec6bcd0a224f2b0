// Runs histories by a seed until the time is over, and shrinks one that differs to what is needed.
import fc from 'fast-check'
import { History } from './history.ts'
import type { Step } from './steps.ts'
import type { World } from './world.ts'

export type Plan = {
  seed: number
  /** After so long no further history is begun; one that differs is shrunk for as long again. */
  seconds: number
  histories: number
  steps: number
  step: fc.Arbitrary<Step>
}
export type Ran = { histories: number; steps: number; widest: number }

/** @throws Error with the seed, the shortest history that differs, and what was seen in it */
export async function runHistories(world: World, plan: Plan): Promise<Ran> {
  const ran: Ran = { histories: 0, steps: 0, widest: 1 }
  const until = performance.now() + plan.seconds * 1_000
  let log: readonly string[] = []
  const steps = fc.array(plan.step, { minLength: 1, maxLength: plan.steps, size: 'max' })
  const result = await fc.check(
    fc.asyncProperty(steps, async (all) => {
      if (log.length === 0 && performance.now() > until) return
      const history = new History(world)
      try {
        await history.begin()
        for (const one of all) await history.run(one)
        await history.audit()
        ran.histories++
        ran.steps += all.length
        ran.widest = Math.max(ran.widest, history.law.widest)
      } catch (error) {
        log = [...history.log, String(error)]
        throw error
      } finally {
        await history.close()
        await world.mend()
      }
    }),
    {
      seed: plan.seed,
      numRuns: plan.histories,
      interruptAfterTimeLimit: 2 * plan.seconds * 1_000,
      markInterruptAsFailure: false,
    },
  )
  if (result.failed && result.counterexample)
    throw new Error(
      [
        `M4A_LAW_SEED=${plan.seed} (path ${result.counterexamplePath}, shrunk ${result.numShrinks} times):`,
        ...(result.counterexample[0] ?? []).map((one) => `  ${JSON.stringify(one)}`),
        'as it was seen last:',
        ...log,
      ].join('\n'),
    )
  return ran
}
