// The answer to a send whose idempotency key was used before for the same content: the original's, with what became of it.
import { KIND, type MessageRow, type Recipient } from '../store/rows.ts'
import { parseAddress } from '../wire/address.ts'
import type { SendAnswer, SendResult } from '../wire/answers.ts'
import type { State } from '../wire/letter.ts'
import { LIMITS } from '../wire/limits.ts'
import { messageId } from '../wire/names.ts'
import { Refusal } from '../wire/refusal.ts'
import { rfc3339 } from '../wire/time.ts'
import { dispatchedView } from './dispatch/view.ts'
import { drainWarning, roomWarning } from './drained.ts'
import { readFragment } from './fragment.ts'
import type { Caller, Mail } from './mail.ts'
import { receivedCopy } from './receipt.ts'

/**
 * The answer to a send whose key is known already, or null. Two that arrive together are told apart by the store.
 * @throws Refusal `idempotency_conflict`
 */
export function repeated(mail: Mail, caller: Caller, { key, hash }: { key: string; hash: string }): SendAnswer | null {
  const known = mail.store.keyed(caller.account.id, key)
  if (known === null) return null
  if (known.hash !== hash) throw conflict(mail, known.id)
  return duplicateAnswer(mail, caller, known.id)
}

export function conflict(mail: Mail, id: number): Refusal {
  const original = mail.store.message(id)
  const message_id = original ? messageId(original.id, original.random) : null
  const what = message_id === null ? '' : ` in ${message_id}`
  return new Refusal('idempotency_conflict', `this idempotency_key was used for other content${what}`, { message_id })
}

/** `from` is the session that sent the original: a retry may come from another one of the account. */
export function duplicateAnswer(mail: Mail, caller: Caller, id: number): SendAnswer {
  const message = mail.store.message(id)
  if (!message) throw new Refusal('store_unavailable', 'the original of this idempotency_key is gone')
  const stored = readFragment(message.json)
  const groups = [...Map.groupBy(message.recipients, (to) => to.text).values()]
  const answer: SendAnswer = {
    message_id: stored.message_id,
    thread: stored.thread,
    from: stored.from,
    from_text: stored.from_text,
    results: groups.slice(0, LIMITS.recipients).map((entries) => resultOf(mail, caller, message, entries)),
    duplicate: true,
    hop: stored.hop,
    created_at: stored.created_at,
    created_at_unix_ms: stored.created_at_unix_ms,
    now: rfc3339(mail.now()),
  }
  if (groups.length > LIMITS.recipients) answer.more_results = groups.length - LIMITS.recipients
  const dispatched = mail.store.dispatches.ofMessage(id)
  if (dispatched) answer.dispatch = dispatchedView(mail, dispatched)
  if (stored.wake_suppressed) answer.wake_suppressed = stored.wake_suppressed
  return answer
}

/** `entries`: what one address led to. */
function resultOf(mail: Mail, caller: Caller, message: MessageRow, entries: readonly Recipient[]): SendResult {
  const [first] = entries
  const text = first?.text ?? ''
  const state = stateOf(mail, message, entries)
  const result: SendResult = { to: parseAddress(text), to_text: text, ok: true, state }
  const warning =
    first?.kind === KIND.room
      ? roomWarning(mail, entries, caller.account.id)
      : first && state !== 'closed'
        ? drainWarning(mail, first)
        : undefined
  if (warning !== undefined) result.warning = warning
  return result
}

/** Of a room: closed once all closed it, opened once anybody opened it. */
function stateOf(mail: Mail, message: MessageRow, entries: readonly Recipient[]): State {
  const copies = entries
    .filter((to) => to.kind !== KIND.room || to.account !== message.account)
    .map((to) => receivedCopy(mail, message, to))
    .filter((copy) => copy !== null)
  if (copies.length > 0 && copies.every((copy) => copy.closed === 1)) return 'closed'
  return copies.some((copy) => copy.closed === 1 || copy.opened !== null) ? 'opened' : 'new'
}
