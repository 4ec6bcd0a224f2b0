// Readers of what others write, on the kept corpus and on changes of it: in short, each time with the same seed. The long form is
// test/fuzz/main.ts, which adds what it finds to the corpus.
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { fuzz } from '../fuzz/fuzz.ts'
import { leftovers, TARGETS } from '../fuzz/targets.ts'
import { seedFrom } from '../support/random.ts'

setDefaultTimeout(60_000)

/** Milliseconds for each reader. */
const SHORT = 600

afterAll(() => rmSync(leftovers, { recursive: true, force: true }))

test.each(Object.keys(TARGETS))('%s', async (name) => {
  const target = TARGETS[name]
  if (!target) throw new Error(name)
  const { inputs, findings } = await fuzz(name, target, seedFrom(1), SHORT)
  expect(findings.map(({ why, input }) => `${why}: ${input.toString('latin1').slice(0, 300)}`)).toEqual([])
  expect(inputs).toBeGreaterThan(target.seeds.length)
})
