// Admission: the one function that says whether an agent may be started. Every door, and the mailbox itself, goes through it.
import type { NewDispatch } from '../../store/dispatch/rows.ts'
import type { AccountRow } from '../../store/rows.ts'
import { LIMITS } from '../../wire/limits.ts'
import { canonical } from '../../wire/names.ts'
import { denied, type Facts, Refusal } from '../../wire/refusal.ts'
import { rfc3339 } from '../../wire/time.ts'
import type { Caller, Mail } from '../mail.ts'

const DAY_MS = 86_400_000

export type Asked = {
  fresh: boolean
  /** Of the letter that it is about; 0 without one. */
  hop: number
  /** The mailbox itself asks, to tell a dispatcher of the end of its own dispatch: who may ask was settled then. */
  back?: { of: number; depth: number; message: number; thread: number }
}

/** `row` is to be stored; `release` gives its place in the count back when it was, or could not be. */
export type Admitted = { row: NewDispatch; release: () => void }

/**
 * Whether `caller` may have `to` started now. What runs already is no reason to refuse: it is queued.
 * @throws Refusal `permission_denied`, `dispatch_unavailable`, `not_an_agent`, `dispatch_refused` with the rule, `dispatch_paused`,
 *   `daily_cap` with `retry_after_ms`
 */
export function admit(mail: Mail, caller: Caller, to: AccountRow, { fresh, hop, back }: Asked): Admitted {
  const { dispatches } = mail.store
  const { account } = caller
  if (!back && !account.can.dispatch && !account.can.operator) throw denied('dispatch')
  if (mail.runs.unavailable !== null)
    throw new Refusal('dispatch_unavailable', `agents cannot be started here: ${mail.runs.unavailable}`)
  const agent = dispatches.agent(to.id)
  if (!agent)
    throw new Refusal('not_an_agent', `${to.name} has no profile, so it cannot be started`, { agent: to.name })
  const { profile } = agent
  const refused = (rule: string, why: string, facts: Facts = {}) =>
    new Refusal('dispatch_refused', why, { agent: to.name, rule, ...facts })
  const named = (names: readonly string[]) => names.some((name) => canonical(name) === canonical(account.name))

  if (named(profile.block)) throw refused('block', `${account.name} is on the block list of ${to.name}`)
  const isPerson = account.kind === 'person' || account.can.operator
  if (!back && !isPerson && !named(profile.allow))
    throw refused('allow', `${account.name} is not on the list of those who may have ${to.name} started`)
  if (!isPerson && account.id === to.id) throw refused('self', 'an agent does not have itself started')
  const run = back ? null : mail.runs.of(caller)
  const depth = back ? back.depth : (run?.depth ?? 0) + 1
  if (depth > profile.depth)
    throw refused('depth', `this would be ${depth} runs away from a person's word`, { depth, limit: profile.depth })
  if (hop > LIMITS.hopQuiet)
    throw refused('hop', `this thread has gone to and fro ${hop} times`, { hop, limit: LIMITS.hopQuiet })
  const why = dispatches.pause?.reason ?? agent.paused
  if (why !== null)
    throw new Refusal('dispatch_paused', `starting ${to.name} is paused: ${why}`, { agent: to.name, reason: why })
  const now = mail.now()
  const { count, oldest } = dispatches.today(to.id, now)
  if (count >= profile.perDay) {
    const retry = Math.max(1_000, (oldest ?? now) + DAY_MS - now)
    throw new Refusal('daily_cap', `${to.name} was dispatched ${count} times in the last 24 hours`, {
      agent: to.name,
      limit: profile.perDay,
      retry_after_ms: retry,
      until: rfc3339(now + retry),
    })
  }
  const row: NewDispatch = {
    agent: to.id,
    by: account.id,
    byBox: caller.session.box,
    message: back?.message ?? null,
    thread: back?.thread ?? null,
    fresh,
    depth,
    parent: run?.dispatch ?? null,
    backOf: back?.of ?? null,
  }
  return { row, release: dispatches.reserve(row) }
}
