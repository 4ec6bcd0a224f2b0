// One or many ids in ack, reopen and claim: each has its own result; where all are refused the first refusal is the answer.
import type { Settled } from '../store/store.ts'
import type { BatchResult } from '../wire/answers.ts'
import { type MessageId, sequenceOf } from '../wire/names.ts'
import { malformed, Refusal } from '../wire/refusal.ts'
import { copyOf } from './copy.ts'
import type { Caller, Mail } from './mail.ts'
import { readable, unknownMessage } from './may-read.ts'
import { claimedRefusal } from './reply.ts'

export type OneOrMany = { message_id?: string | null; message_ids?: string[] | null }
export type Done = { message_id: MessageId; settled: Extract<Settled, { ok: true }> }

/**
 * Runs `write` on the messages of which the caller has a copy. `results` are in the order asked, each id once.
 * @throws Refusal `malformed` unless exactly one of message_id and message_ids is there; the first refusal where nothing was done
 */
export async function batch(
  mail: Mail,
  caller: Caller,
  request: OneOrMany,
  write: (ids: readonly number[]) => Promise<readonly Settled[]>,
): Promise<{ results: BatchResult[]; done: Done[] }> {
  const asked = idsOf(request)
  const refused = new Map<MessageId, Refusal>()
  const ids: number[] = []
  for (const id of asked)
    if (hasCopy(mail, caller, id)) ids.push(sequenceOf(id))
    else refused.set(id, unknownMessage(id))
  const settled = new Map<number, Settled>()
  if (ids.length > 0) for (const one of await write(ids)) settled.set(one.id, one)

  const done: Done[] = []
  const results = asked.map((message_id): BatchResult => {
    const one = settled.get(sequenceOf(message_id))
    const refusal = refused.get(message_id) ?? refusalOf(mail, message_id, one)
    if (refusal === null && one?.ok) done.push({ message_id, settled: one })
    else if (refusal) refused.set(message_id, refusal)
    return refusal ? { message_id, ok: false, refusal: refusal.toJSON() } : { message_id, ok: true }
  })
  const first = asked.map((id) => refused.get(id)).find((refusal) => refusal !== undefined)
  if (done.length === 0 && first) throw first
  return { results, done }
}

function idsOf({ message_id, message_ids }: OneOrMany): MessageId[] {
  if (message_id != null && message_ids != null) throw malformed('message_ids', 'give either message_id or message_ids')
  if (message_id != null) return [message_id]
  if (message_ids != null) return [...new Set(message_ids)]
  throw malformed('message_id', 'is missing; give message_id or message_ids')
}

function hasCopy(mail: Mail, caller: Caller, id: MessageId): boolean {
  try {
    return copyOf(mail, caller, readable(mail, caller, id)) !== null
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
}

/** What a write says of one letter; null where it was done. */
export function refusalOf(mail: Mail, id: MessageId, settled: Settled | undefined): Refusal | null {
  if (!settled) return unknownMessage(id)
  if (settled.ok) return null
  switch (settled.why) {
    case 'unknown':
      return unknownMessage(id)
    case 'claimed':
      return claimedRefusal(mail, id, settled.claim)
    case 'not_closed':
      return new Refusal('not_closed', `${id} is not closed`, { message_id: id })
    case 'not_claimable':
      return new Refusal('not_claimable', 'only open mail of the account can be claimed', { message_id: id })
  }
}
