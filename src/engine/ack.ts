// ack: close messages for the caller. May be repeated; the first time counts.
import type { Address } from '../wire/address.ts'
import type { Ack, AckAnswer } from '../wire/answers.ts'
import type { AckRequest } from '../wire/requests.ts'
import { rfc3339 } from '../wire/time.ts'
import { batch, type Done } from './batch.ts'
import type { Caller, Mail } from './mail.ts'
import { addressOf, sessionAddress, sessionOf } from './who.ts'

/**
 * The answer holds the acknowledgement of the first message closed, at its top level too.
 * @throws Refusal `malformed`, `unknown_message` and `claimed`
 */
export async function ack(mail: Mail, caller: Caller, request: AckRequest): Promise<AckAnswer> {
  const { store } = mail
  const { account, session } = caller
  const { results, done } = await batch(mail, caller, request, (ids) =>
    store.settle(account, session, ids, 'acknowledged'),
  )
  const [first] = done
  if (!first) throw new Error('a batch without refusals did nothing')
  const acknowledged: Ack = {
    message_id: first.message_id,
    reader: readerOf(mail, caller, first),
    acked_at: rfc3339(first.settled.at),
    acked_at_unix_ms: first.settled.at,
  }
  return {
    ack: acknowledged,
    ...acknowledged,
    results,
    unread: store.unread(account.box, session.box),
    now: rfc3339(mail.now()),
  }
}

/** Who closed it: the caller, unless a sibling was there before. */
function readerOf(mail: Mail, caller: Caller, { settled }: Done): Address {
  if (settled.first) return addressOf(caller)
  const { account, session } = caller
  const by = mail.store.delivery(settled.id, [session.box, account.box])?.closedBy ?? null
  const reader = by === null ? null : sessionOf(mail, by)
  return reader ? sessionAddress(account, reader) : addressOf(caller)
}
