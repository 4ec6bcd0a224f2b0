// Letters as an operator's lists show them: who, to whom, what it is about, and what became of it.
import { type DeliveryRow, KIND, type MessageRow } from '../../store/rows.ts'
import type { EntriesAnswer, Entry } from '../../wire/overview.ts'
import { rfc3339 } from '../../wire/time.ts'
import { cursorAt } from '../cursor.ts'
import { isImported, readFragment } from '../fragment.ts'
import { ageOf } from '../letter.ts'
import type { Mail } from '../mail.ts'
import { receivedCopy } from '../receipt.ts'

/** Recipients that are named, and characters of a body that are shown. */
const NAMED = 5
const PREVIEW = 240
/** Copies that are looked at for one letter: a room may have a thousand members. */
const COPIES = 100

/** Newest first; `more` where the store has at least one more. */
export function entriesAnswer(
  mail: Mail,
  letters: Entry[],
  last: number | null,
  more: boolean,
  requested: string | null | undefined,
): EntriesAnswer {
  const cursor = cursorAt(mail.store, last, requested)
  return { letters, has_more: more, cursor, now: rfc3339(mail.now()) }
}

/** One letter without what became of it. */
export function entryOf(message: MessageRow, now: number): Entry {
  const { message_id, thread, from_text, subject, body, created_at } = readFragment(message.json)
  const to = [...new Set(message.recipients.map(({ text }) => text))]
  return {
    message_id,
    thread,
    from_text,
    ...(isImported(message.json) ? { imported: true } : {}),
    to: to.slice(0, NAMED),
    ...(to.length > NAMED ? { more_to: to.length - NAMED } : {}),
    subject,
    preview: body.slice(0, PREVIEW).toWellFormed(),
    created_at,
    age_secs: ageOf(message.created, now),
  }
}

export const stateOf = ({ closed, opened }: DeliveryRow): 'new' | 'opened' | 'closed' =>
  closed !== 0 ? 'closed' : opened === null ? 'new' : 'opened'

/** How many copies are in which state. The sender's own copy of a room letter counts once something was done with it. */
export function statesOf(mail: Mail, message: MessageRow): NonNullable<Entry['states']> {
  const states = { new: 0, opened: 0, closed: 0 }
  for (const to of message.recipients.slice(0, COPIES)) {
    const copy = receivedCopy(mail, message, to)
    if (!copy) continue
    const state = stateOf(copy)
    if (state === 'new' && to.kind === KIND.room && to.account === message.account) continue
    states[state]++
  }
  return states
}
