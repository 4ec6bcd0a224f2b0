// Interleaved rounds: every target in each round, the order turned round in every second one; what counts are ratios of a round.
import { load, type Measured, type Target } from './load.ts'

export type Runs = Map<string, Map<number, Measured[]>>

/** Long enough that whoever compiles while it runs has done so: what counts is a server that has been up for a while. */
const WARM_MS = 4_000

export type Plan = { readonly rounds: number; readonly ms: number }

/** One warm-up of each target under the most connections, then the rounds. Throws when a reply was not good: such a number would mean nothing. */
export async function interleave(
  targets: readonly Target[],
  connections: readonly number[],
  plan: Plan,
  onReply?: (target: Target, reply: Buffer) => void,
): Promise<Runs> {
  const runs: Runs = new Map(targets.map(({ name }) => [name, new Map(connections.map((c) => [c, []]))]))
  const once = async (target: Target, c: number, ms: number) => {
    const measured = await load(target, c, ms, (reply) => onReply?.(target, reply))
    if (measured.bad > 0) throw new Error(`${target.name}: ${measured.bad} replies were refusals`)
    return measured
  }
  for (const target of targets) await once(target, Math.max(...connections), WARM_MS)
  for (let round = 0; round < plan.rounds; round++)
    for (const c of connections)
      for (const target of round % 2 ? targets.toReversed() : targets)
        runs
          .get(target.name)
          ?.get(c)
          ?.push(await once(target, c, plan.ms))
  return runs
}

/** One figure of a target over the rounds; empty where it was not measured. */
export const series = (runs: Runs, name: string, c: number, figure: keyof Measured): number[] =>
  runs
    .get(name)
    ?.get(c)
    ?.map((measured) => measured[figure]) ?? []
