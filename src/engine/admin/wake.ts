// When mail wakes an account or one session of it: what is set, what came of it, which doors there are. No URL and no key is shown.
import type { AccountRow, SessionRow } from '../../store/rows.ts'
import type { AdminAnswer, AdminRequest } from '../../wire/admin.ts'
import { canonical, messageId } from '../../wire/names.ts'
import { Refusal } from '../../wire/refusal.ts'
import { rfc3339, rfc3339OrNull } from '../../wire/time.ts'
import type { StoredWakePolicy, WakeStatus } from '../../wire/wake.ts'
import type { Mail } from '../mail.ts'
import { storedPolicy, wakePolicy } from '../wake/policy.ts'
import { knownAccount, knownSession } from './known.ts'

type Whose = { account: AccountRow; session: SessionRow | null }

function whose(mail: Mail, request: { account: string; session?: string | null }): Whose {
  const account = knownAccount(mail, request.account)
  return { account, session: request.session == null ? null : knownSession(mail, account, request.session) }
}

/** Wakes shown of one mailbox unless more are asked for. */
const SHOWN = 5

export function wakeStatus(mail: Mail, request: AdminRequest<'wake/status'>): AdminAnswer<'wake/status'> {
  const limit = request.limit ?? SHOWN
  const account = request.account
  if (account == null)
    return {
      wakes: mail.store.registry.accounts().map((one) => ({
        ...policyOf(mail, { account: one, session: null }, limit),
        keys: [],
      })),
    }
  return { wakes: [statusOf(mail, whose(mail, { ...request, account }), limit)] }
}

/** With the keys: they are looked up in files, so of one account alone. */
const statusOf = (mail: Mail, whose: Whose, limit: number): WakeStatus => ({
  ...policyOf(mail, whose, limit),
  keys: whose.session === null ? mail.wakes.keys(whose.account.name) : [],
})

function policyOf(mail: Mail, { account, session }: Whose, limit: number): Omit<WakeStatus, 'keys'> {
  const { store } = mail
  const box = session?.box ?? account.box
  const log = store.wakes.log(box, limit)
  const [last] = log
  return {
    account: account.name,
    session: session?.name ?? null,
    policy: wakePolicy(store, account, session),
    policy_changed_at: rfc3339OrNull(storedPolicy(store, box).changed),
    state: last ? outcomeOf(last.outcome) : null,
    source: last?.door ?? null,
    at: last ? rfc3339(last.at) : null,
    due: mail.wakes.due(box),
    wakes: log.map(({ message, count, outcome, door, at, ms, tried }) => {
      const row = store.message(message)
      return {
        message_id: row ? messageId(row.id, row.random) : null,
        count,
        outcome: outcomeOf(outcome),
        door,
        at: rfc3339(at),
        ms,
        tried: tried.map((one) => ({ ...one, outcome: one.outcome === null ? null : outcomeOf(one.outcome) })),
      }
    }),
  }
}

/** Written by wake/ alone. */
const outcomeOf = (text: string) => text as WakeStatus['wakes'][number]['outcome']

const without = (list: readonly string[], gone: readonly string[]): string[] => {
  const names = new Set(gone.map(canonical))
  return list.filter((one) => !names.has(canonical(one)))
}
const joined = (list: readonly string[], more: readonly string[]): string[] => [...without(list, more), ...more]

/**
 * Changes what is set for an account, or for one session over its account; the rest stays. A damaged policy is replaced by
 * what is asked for.
 */
export async function setWake(mail: Mail, request: AdminRequest<'wake/set'>): Promise<AdminAnswer<'wake/set'>> {
  const { account, session } = whose(mail, request)
  const box = session?.box ?? account.box
  if (request.forget === true) {
    await mail.store.wakes.setPolicy(box, null)
    return statusOf(mail, { account, session }, 0)
  }
  const now = wakePolicy(mail.store, account, session)
  const next: StoredWakePolicy = { ...storedPolicy(mail.store, box).policy }
  if (request.enabled != null) next.enabled = request.enabled
  if (request.mode != null) next.mode = request.mode
  if (request.quiet != null) next.quiet = request.quiet
  if (request.allow) next.allow = joined(now.allow ?? [], request.allow)
  if (request.allow_everybody === true) next.allow = null
  if (request.block) {
    next.block = joined(now.block, request.block)
    if (next.allow) next.allow = without(next.allow, request.block)
  }
  if (request.allow || request.unblock)
    next.block = without(next.block ?? now.block, [...(request.allow ?? []), ...(request.unblock ?? [])])
  checkDoors([...(request.on ?? []), ...(request.off ?? [])], mail.wakes.doors)
  if (request.on) {
    next.on = joined(now.on, request.on)
    next.off = without(next.off ?? now.off, request.on)
  }
  if (request.off) {
    next.off = joined(next.off ?? now.off, request.off)
    next.on = without(next.on ?? now.on, request.off)
  }
  await mail.store.wakes.setPolicy(box, JSON.stringify(next))
  return statusOf(mail, { account, session }, 0)
}

function checkDoors(names: readonly string[], doors: readonly string[]): void {
  const odd = names.find((name) => !doors.includes(name))
  if (odd === undefined) return
  throw new Refusal(
    'malformed',
    `there is no door ${odd}`,
    { field: 'door', doors },
    `the doors are ${doors.join(', ')}`,
  )
}

export async function planWake(mail: Mail, request: AdminRequest<'wake/plan'>): Promise<AdminAnswer<'wake/plan'>> {
  if (request.account != null) {
    const { account, session } = whose(mail, { ...request, account: request.account })
    return { doors: await mail.wakes.plan(account, session) }
  }
  // the states of all doors, for whoever examines this mailbox
  const { registry } = mail.store
  const live = registry.accounts().filter(({ id }) => registry.someLive(id, mail.alive))
  const plans = await Promise.all(live.map((account) => mail.wakes.plan(account, null)))
  return { doors: plans.flat() }
}

export async function testWake(mail: Mail, request: AdminRequest<'wake/test'>): Promise<AdminAnswer<'wake/test'>> {
  const { account, session } = whose(mail, request)
  return mail.wakes.test(account, session)
}
