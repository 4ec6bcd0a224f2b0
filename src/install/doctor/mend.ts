// Mending what is safe to mend: one finding after the other, then looking again, since one fault may hide the next.
import { Refusal } from '../../wire/refusal.ts'
import type { Examined } from './examine.ts'
import { reasonOf } from './finding.ts'

export type Mended = {
  /** One line for each thing that was done, in order. */
  fixed: string[]
  /** What was tried and failed. */
  unfixed: { check: string; reason: string; todo: string | null }[]
  /** As it is now. */
  examined: Examined[]
}

const ROUNDS = 4

/** `look` examines everything anew. A fault that is still there after it was mended is not mended twice. */
export async function mend(first: Examined[], look: () => Promise<Examined[]>): Promise<Mended> {
  const mended: Mended = { fixed: [], unfixed: [], examined: first }
  const tried = new Set<string>()
  const givenUp = new Set<string>()
  for (let round = 0; round < ROUNDS; round++) {
    const before = tried.size
    for (const { finding, fix } of mended.examined) {
      const fault = `${finding.check} ${finding.what}`
      if (fix === null || tried.has(fault) || givenUp.has(finding.check)) continue
      tried.add(fault)
      try {
        // two findings may have one cure
        for (const line of await fix()) if (!mended.fixed.includes(line)) mended.fixed.push(line)
      } catch (error) {
        givenUp.add(finding.check)
        const todo = error instanceof Refusal ? error.hint : finding.todo
        mended.unfixed.push({ check: finding.check, reason: reasonOf(error), todo })
      }
    }
    if (tried.size === before) break
    mended.examined = await look()
  }
  return mended
}
