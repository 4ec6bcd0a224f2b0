// The chain of doors: in order, each asked whether it is ready, the first that takes the letter ends it, every no is kept.
import { performance } from 'node:perf_hooks'
import type { PlannedDoor, WakeOutcome, WakePolicy } from '../wire/wake.ts'
import { type Probe, WAKE_TIERS, type WakeAdapter, type WakeLetter, type WakeTarget, type Woken } from './adapter.ts'

export type Link = {
  readonly adapter: WakeAdapter
  readonly target: WakeTarget /** Why the policy leaves it out, or null. */
  readonly left: string | null
}

export type Step = { door: string; session: string | null; outcome: WakeOutcome | null; detail: string; ms: number }

/** `busy`: nothing was tried, because the agent is at work and is to be left alone. `target`: where the chain ended. */
export type Result = {
  outcome: WakeOutcome
  door: string | null
  target: WakeTarget | null
  tried: Step[]
  ms: number
  busy: boolean
}

const PROBE_MS = 1_500
const WAKE_MS = 30_000

/** Where no process lives, starting one is worth more than keeping the letter where nobody looks. */
function rank({ adapter, target }: Link): number {
  const at = WAKE_TIERS.indexOf(adapter.tier)
  return adapter.tier === 'spawn' && !target.attended ? WAKE_TIERS.indexOf('hook') - 0.5 : at
}

/** The doors of all targets, those of the first target first within a tier. */
export function linksOf(
  adapters: readonly WakeAdapter[],
  targets: readonly WakeTarget[],
  policy: Pick<WakePolicy, 'on' | 'off'>,
): Link[] {
  const left = ({ id, optIn }: WakeAdapter): string | null => {
    if (policy.off.includes(id)) return 'switched off by the policy'
    return optIn && !policy.on.includes(id) ? 'has to be allowed first: mail4agent wake enable' : null
  }
  return targets
    .flatMap((target) =>
      adapters.filter((adapter) => adapter.serves(target)).map((adapter) => ({ adapter, target, left: left(adapter) })),
    )
    .sort((a, b) => rank(a) - rank(b))
}

/** What each door says, asked all at once. */
export async function planOf(links: readonly Link[]): Promise<PlannedDoor[]> {
  return Promise.all(
    links.map(async ({ adapter, target, left }) => {
      const probe = left === null ? await probed(adapter, target) : ({ ready: false, why: left } as const)
      return {
        door: adapter.id,
        tier: adapter.tier,
        account: target.account,
        session: target.session,
        ready: probe.ready,
        busy: probe.ready && probe.busy,
        opt_in: adapter.optIn,
        why: probe.ready ? null : probe.why,
      }
    }),
  )
}

/** Goes through the doors. `quiet`: stops before a door whose agent is at work. Never rejects. */
export async function wakeThrough(
  links: readonly Link[],
  letter: WakeLetter,
  quiet: boolean,
  stop: AbortSignal,
): Promise<Result> {
  const began = performance.now()
  const tried: Step[] = []
  const end = (outcome: WakeOutcome, link: Link | null, busy = false): Result => ({
    outcome,
    door: link?.adapter.id ?? null,
    target: link?.target ?? null,
    tried,
    ms: Math.round(performance.now() - began),
    busy,
  })
  let refused = false
  for (const link of links) {
    const { adapter, target, left } = link
    if (stop.aborted) break
    const from = performance.now()
    const step = (outcome: WakeOutcome | null, detail: string) =>
      tried.push({
        door: adapter.id,
        session: target.session,
        outcome,
        detail,
        ms: Math.round(performance.now() - from),
      })
    const probe: Probe = left === null ? await probed(adapter, target) : { ready: false, why: left }
    if (!probe.ready) {
      step(null, probe.why)
      continue
    }
    if (probe.busy && quiet) {
      step(null, 'it is at work, and is to be left alone meanwhile')
      return end('no_door', link, true)
    }
    const { outcome, detail } = await tryOnce(adapter, target, letter, stop)
    step(outcome, detail)
    if (outcome !== 'refused') return end(outcome, link)
    refused = true
  }
  return end(refused ? 'refused' : 'no_door', null)
}

async function probed(adapter: WakeAdapter, target: WakeTarget): Promise<Probe> {
  const signal = AbortSignal.timeout(PROBE_MS)
  try {
    return await Promise.race([adapter.probe(target, signal), aborted(signal)])
  } catch (error) {
    return { ready: false, why: signal.aborted ? 'it did not say in time whether it is there' : reason(error) }
  }
}

async function tryOnce(
  adapter: WakeAdapter,
  target: WakeTarget,
  letter: WakeLetter,
  stop: AbortSignal,
): Promise<Woken> {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(WAKE_MS)])
  try {
    return await Promise.race([adapter.wake(target, letter, signal), aborted(signal)])
  } catch (error) {
    // it may have arrived: another door would wake twice
    return { outcome: 'unknown', detail: signal.aborted ? 'nothing came back in time' : reason(error) }
  }
}

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
  })

/** Codes of the system, never a text that could hold an address or a key. */
const reason = (error: unknown): string => {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return `failed with ${error.code}`
  return 'the door failed'
}
