// The wake policy of a mailbox: a session's over its account's over what is usual. One that cannot be read wakes nobody.
import { Value } from '@sinclair/typebox/value'
import type { AccountRow, SessionRow } from '../../store/rows.ts'
import type { Store } from '../../store/store.ts'
import { StoredWakePolicy, type WakePolicy } from '../../wire/wake.ts'

/** Mail written to an agent starts a turn, the talk of rooms does not; a person has a bell of their own. */
export const usualPolicy = (account: Pick<AccountRow, 'kind'>): WakePolicy => ({
  enabled: true,
  mode: account.kind === 'agent' ? 'direct' : 'off',
  allow: null,
  block: [],
  quiet: false,
  on: [],
  off: [],
  damaged: null,
})

/** What was set for one mailbox alone; `damaged` says why it cannot be read. */
export function storedPolicy(
  store: Pick<Store, 'wakes'>,
  box: number,
): { policy: StoredWakePolicy; changed: number | null; damaged: string | null } {
  const stored = store.wakes.policy(box)
  if (stored === null) return { policy: {}, changed: null, damaged: null }
  const { changed } = stored
  try {
    const policy: unknown = JSON.parse(stored.policy)
    if (Value.Check(StoredWakePolicy, policy)) return { policy, changed, damaged: null }
    const error = Value.Errors(StoredWakePolicy, policy).First()
    return { policy: {}, changed, damaged: `${error?.path || 'the policy'} is not known` }
  } catch {
    return { policy: {}, changed, damaged: 'it is not JSON' }
  }
}

/** Read anew at each call: a wake that was forbidden a moment ago does not happen. */
export function wakePolicy(store: Pick<Store, 'wakes'>, account: AccountRow, session: SessionRow | null): WakePolicy {
  const own = storedPolicy(store, account.box)
  const override = session === null ? null : storedPolicy(store, session.box)
  const damaged = own.damaged ?? override?.damaged ?? null
  return { ...usualPolicy(account), ...own.policy, ...override?.policy, damaged }
}
