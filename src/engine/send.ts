// send: one message to one or many, stored before the answer; or a reply, which may settle what it answers.
import { KIND, type Recipient } from '../store/rows.ts'
import type { SendAnswer, SendResult } from '../wire/answers.ts'
import { LIMITS } from '../wire/limits.ts'
import { messageId } from '../wire/names.ts'
import { Refusal } from '../wire/refusal.ts'
import type { SendRequest } from '../wire/requests.ts'
import { rfc3339 } from '../wire/time.ts'
import { contentHash, contentOf } from './content.ts'
import { dispatchAnswer, dispatchOf } from './dispatch/send.ts'
import { drainWarning, roomWarning } from './drained.ts'
import { conflict, duplicateAnswer, repeated } from './duplicate.ts'
import { fragmentOf, threadOf } from './fragment.ts'
import { remoteAmong } from './link.ts'
import type { Caller, Mail } from './mail.ts'
import { ALL, deliveriesOf, type Resolved, resolve } from './recipients.ts'
import { type Addressed, hopOf, type Parent, parentOf, replyRecipients } from './reply.ts'
import { scopeOf } from './scope.ts'
import { addressOf, addressText } from './who.ts'

/**
 * Stores a message and answers when it is on the disk. The sender is the caller; nothing in the request can change that.
 * @throws Refusal of the request (`malformed`, `too_large`), of its one recipient, `no_recipient` with the results where all of
 * several were refused, `hop_limit`, `rate_limited`, `idempotency_conflict`, and those of the store
 */
export async function send(mail: Mail, caller: Caller, request: SendRequest): Promise<SendAnswer> {
  const { store } = mail
  const { account, session } = caller
  const key = request.idempotency_key ?? null
  const idempotency = key === null ? null : { key, hash: contentHash(request) }
  // before anything that may have changed since: recipients, the message answered, rights, rates and hops
  const before = idempotency === null ? null : repeated(mail, caller, idempotency)
  if (before) return before
  const parent = parentOf(mail, caller, request)
  const said = contentOf(caller, request, parent)
  const hop = hopOf(mail, caller, parent)
  const { to, warning } = addressed(mail, caller, request, parent)
  const elsewhere = mail.link ? remoteAmong(mail, caller, to, request.to == null) : []
  if (mail.link && elsewhere.length > 0) await mail.link.prepare(elsewhere)
  const resolved = resolve(mail, caller, to, request.to == null)
  const told = toldOf(resolved)
  const results = told.map(resultOf)
  const recipients = deliveriesOf(resolved)
  if (recipients.length === 0) throw nobody(resolved, results)
  const wakeSuppressed = checkRates(mail, caller, recipients, hop, Buffer.byteLength(said.body))
  const asked = dispatchOf(mail, caller, request, resolved, hop)

  const thread = parent ? threadOf(parent.message.json) : null
  const replyTo = request.reply_to ?? null
  const fragment = fragmentOf(account.name, session.name, thread, {
    ...said,
    replyTo,
    hop,
    wakeSuppressed,
    recipients: namesOf(resolved),
  })
  if (store.people.isPrivate(account.id))
    store.people.meet(
      account.id,
      recipients.map((one) => one.account),
    )
  let random = ''
  const sent = store.send({
    account,
    session,
    scope: scopeOf(caller, recipients, parent),
    thread: parent?.message.thread ?? 0,
    parent: parent?.message.id ?? null,
    hop,
    recipients,
    fragment: (id, drawn, created) => {
      random = drawn
      return fragment(id, drawn, created)
    },
    idempotency,
    upsert: request.upsert_key ?? null,
    close: request.close && parent ? parent.message.id : null,
    // who answers a message has opened it, and an answer that is refused or a repeat opens nothing
    open: request.close ? null : unopened(parent),
    dispatch: asked?.admitted?.row ?? null,
  })
  const outcome = await sent.finally(() => asked?.admitted?.release())
  if (outcome.conflict) throw conflict(mail, outcome.id)
  if (outcome.duplicate) return duplicateAnswer(mail, caller, outcome.id)

  warn(mail, caller, told, results, warning)
  const id = messageId(outcome.id, random)
  const answer: SendAnswer = {
    message_id: id,
    thread: thread ?? id,
    from: addressOf(caller),
    from_text: addressText(caller),
    results,
    hop,
    created_at: rfc3339(outcome.created),
    created_at_unix_ms: outcome.created,
    now: rfc3339(mail.now()),
  }
  if (resolved.length > told.length) answer.more_results = resolved.length - told.length
  if (asked) answer.dispatch = dispatchAnswer(mail, asked, outcome.dispatch)
  // nobody reads that mailbox yet: somebody is started to
  if (asked?.admitted && results[0]) delete results[0].warning
  if (outcome.closed && replyTo !== null) answer.closed = replyTo
  if (outcome.superseded > 0) answer.superseded = outcome.superseded
  if (wakeSuppressed) answer.wake_suppressed = wakeSuppressed
  return answer
}

/** @throws Refusal `no_recipient` */
function addressed(mail: Mail, caller: Caller, request: SendRequest, parent: Parent | null): Addressed {
  const { to } = request
  if (to != null) return { to: Array.isArray(to) ? to : [to] }
  if (!parent) throw new Refusal('no_recipient', 'there is neither to nor reply_to')
  return replyRecipients(mail, caller, parent)
}

/** Those of whom the answer tells: no more than may be named, and who was refused before all others. */
const toldOf = (resolved: readonly Resolved[]): readonly Resolved[] =>
  resolved.length <= LIMITS.recipients
    ? resolved
    : [...resolved].sort((a, b) => Number(a.refusal === null) - Number(b.refusal === null)).slice(0, LIMITS.recipients)

const resultOf = ({ to, text, refusal }: Resolved): SendResult =>
  refusal ? { to, to_text: text, ok: false, refusal: refusal.toJSON() } : { to, to_text: text, ok: true, state: 'new' }

function nobody(resolved: readonly Resolved[], results: SendResult[]): Refusal {
  const [first] = resolved
  if (resolved.length === 1 && first?.refusal) return first.refusal
  if (resolved.length === 0) return new Refusal('no_recipient', 'there is no account but your own')
  return new Refusal('no_recipient', 'every recipient was refused', { results })
}

/** As they were written to, where there are several; @all stands for all that it was expanded to. */
function namesOf(resolved: readonly Resolved[]): string[] | null {
  if (resolved.length === 1) return null
  const accepted = resolved.filter((one) => one.refusal === null)
  const names = new Set(accepted.map((one) => (one.all ? ALL : one.text)))
  return names.size > 1 || names.has(ALL) ? [...names] : null
}

const RATE = `${LIMITS.accountRate} messages or ${LIMITS.accountBytesRate / 2 ** 20} MiB`

/**
 * Counts this message; says why it may wake and ring nobody, or null.
 * @throws Refusal `rate_limited`
 */
function checkRates(
  mail: Mail,
  caller: Caller,
  recipients: readonly Recipient[],
  hop: number,
  bytes: number,
): 'hop' | 'rate' | null {
  const now = mail.now()
  const from = caller.account.id
  const wait = mail.rates.send(from, now, bytes)
  if (wait > 0)
    throw new Refusal('rate_limited', `this account sends more than ${RATE} a second`, { retry_after_ms: wait })
  if (hop > LIMITS.hopQuiet) return 'hop'
  let quiet = false
  // one who is written to too often makes the whole message quiet: else a loop would add a recipient to get through
  for (const to of recipients)
    if (to.kind !== KIND.room || to.account !== from) quiet = mail.rates.wake(from, to.account, now) > 0 || quiet
  return quiet ? 'rate' : null
}

/** The message that is answered, where the copy of it is open and was not opened yet. */
const unopened = (parent: Parent | null): number | null =>
  parent?.copy?.closed === 0 && parent.copy.opened === null ? parent.message.id : null

/** `redirected`: why the message went elsewhere, where it did. */
function warn(
  mail: Mail,
  caller: Caller,
  resolved: readonly Resolved[],
  results: readonly SendResult[],
  redirected: string | undefined,
): void {
  resolved.forEach(({ to, deliveries }, index) => {
    const result = results[index]
    const [first] = deliveries
    if (!result || !first) return
    const warning = to.kind === 'room' ? roomWarning(mail, deliveries, caller.account.id) : drainWarning(mail, first)
    const warnings = [redirected, warning].filter((one) => one !== undefined)
    if (warnings.length > 0) result.warning = warnings.join('; ')
  })
}
