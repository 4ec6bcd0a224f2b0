// Runs the checks: together, each with its deadline; one that throws or hangs is a finding itself.
import { Refusal } from '../../wire/refusal.ts'
import type { Check, Checkup } from './checkup.ts'
import { type Finding, type Fix, type Found, fail, reasonOf } from './finding.ts'

export type Examined = { finding: Finding; fix: Fix | null }

/** `running` is told which checks are still under way, each time that one ends. Never rejects. */
export async function examine(
  checks: readonly Check[],
  checkup: Checkup,
  running: (names: readonly string[]) => void = () => {},
): Promise<Examined[]> {
  const open = new Set(checks.map(({ name }) => name))
  const results = new Map<string, Examined[]>()
  const run = async (check: Check) => {
    results.set(check.name, await one(check, checkup))
    open.delete(check.name)
    running([...open])
  }
  running([...open])
  await Promise.all(checks.filter(({ alone }) => alone !== true).map(run))
  for (const check of checks.filter(({ alone }) => alone === true)) await run(check)
  return checks.flatMap(({ name }) => results.get(name) ?? [])
}

async function one(check: Check, checkup: Checkup): Promise<Examined[]> {
  const late = Promise.withResolvers<Found>()
  const timer = setTimeout(
    () => late.resolve(fail(`could not be looked at within ${check.deadline / 1_000} s`, again(checkup))),
    check.deadline,
  )
  try {
    const found = await Promise.race([Promise.resolve(checkup).then(check.run), late.promise])
    return [found].flat().map((each) => examined(check.name, each))
  } catch (error) {
    const isRefusal = error instanceof Refusal
    const facts = isRefusal ? { ...error.toJSON() } : {}
    const todo = isRefusal ? error.hint : again(checkup)
    return [examined(check.name, fail(`could not be looked at: ${reasonOf(error)}`, todo, facts))]
  } finally {
    clearTimeout(timer)
  }
}

const again = ({ call }: Checkup): string => `try again: ${call} doctor`

function examined(check: string, { of, fix, level, what, todo, facts }: Found): Examined {
  return { finding: { check: of === undefined ? check : `${check} ${of}`, level, what, todo, facts }, fix: fix ?? null }
}
