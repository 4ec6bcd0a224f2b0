// A send that also has its recipient started: checked before anything is stored, stored with the letter in one commit.
import { KIND } from '../../store/rows.ts'
import type { Dispatched } from '../../wire/dispatch.ts'
import { malformed, Refusal } from '../../wire/refusal.ts'
import type { SendRequest } from '../../wire/requests.ts'
import type { Caller, Mail } from '../mail.ts'
import type { Resolved } from '../recipients.ts'
import { knownAccount } from '../visible.ts'
import { type Admitted, admit } from './admit.ts'
import { isPingLetter } from './ping-letter.ts'
import { dispatchedView } from './view.ts'

/** `admitted` null: a ping letter, for which nobody is started. */
export type DispatchAsked = { agent: string; admitted: Admitted | null }

/**
 * What `dispatch` of a request means; null where it says nothing.
 * @throws Refusal `malformed` unless the letter goes to one account, `dispatch_refused` for one of another machine, and those of `admit`
 */
export function dispatchOf(
  mail: Mail,
  caller: Caller,
  request: SendRequest,
  resolved: readonly Resolved[],
  hop: number,
): DispatchAsked | null {
  if (request.dispatch == null) return null
  const [only, ...others] = resolved
  const [delivery] = only?.deliveries ?? []
  if (!only || others.length > 0 || delivery?.kind !== KIND.account || only.to.kind !== 'direct')
    throw malformed('dispatch', 'is for a letter to one account, no session and no room')
  // an account of that name may be here, too
  if (only.to.machine !== undefined)
    throw new Refusal('dispatch_refused', `${only.text} is started by its own mailbox or not at all`, {
      agent: only.text,
      rule: 'machine',
    })
  const to = knownAccount(mail, only.to.participant)
  if (isPingLetter(request.body) && mail.store.dispatches.agent(to.id)) return { agent: to.name, admitted: null }
  return { agent: to.name, admitted: admit(mail, caller, to, { fresh: request.dispatch === 'fresh', hop }) }
}

export function dispatchAnswer(mail: Mail, { agent, admitted }: DispatchAsked, id: number | null): Dispatched {
  const row = id === null ? null : mail.store.dispatches.get(id)
  if (row) return dispatchedView(mail, row)
  return { agent, state: admitted === null ? 'ping' : 'queued' }
}
