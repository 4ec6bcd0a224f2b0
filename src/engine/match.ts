// Does a letter fit a filter? By who wrote it, its subject, thread, what it answers and its age. Names as the letter has them.
import { SYSTEM } from '../store/people/people.ts'
import type { Address, AddressInput } from '../wire/address.ts'
import { toAddress } from '../wire/address.ts'
import { canonical } from '../wire/names.ts'
import { malformed } from '../wire/refusal.ts'
import { readFragment } from './fragment.ts'
import type { Caller, Mail } from './mail.ts'
import { meant, visibleAccount } from './visible.ts'

/** Null members say nothing. Ids have been checked; `before` is exclusive, in milliseconds since the epoch. */
export type Filter = {
  from: Sender | null
  subject: string | null
  thread: string | null
  replyTo: string | null
  before: number | null
}
/** An account, or the sessions of it that begin so. */
export type Sender = { account: string; session: string | null }

/**
 * Who is meant; an alias of the caller is as good. The account need not exist any more: its letters do.
 * @throws Refusal `malformed` by field for a room
 */
export function senderMeant(mail: Mail, caller: Caller, field: string, input: AddressInput): Sender {
  const address: Address = meant(mail, caller, toAddress(input))
  if (address.kind === 'room') throw malformed(field, 'is a room; name an account or a session')
  if (address.machine !== undefined) throw malformed(field, 'is on another machine, and none is linked')
  return {
    account: canonical(address.participant),
    session: address.kind === 'session' ? address.session : null,
  }
}

/**
 * For a list in which nothing was found: a name that nobody has is a mistake, not an empty list. Letters of an account that was
 * removed are found before this is asked.
 * @throws Refusal `unknown_participant`
 */
export function checkKnown(mail: Mail, caller: Caller, name: string | undefined): void {
  if (name !== undefined && name !== SYSTEM) visibleAccount(mail, caller, name)
}

const FROM = /^"message_id":"[^"]*","thread":"([^"]*)","from":\{[^}]*\},"from_text":"([^"/]*)(?:\/([^"]*))?"/

/**
 * `row.json` is a fragment as it is stored: its first members have a fixed order and no escapes. Who wrote an imported letter is an
 * account without a session.
 */
export function fits(filter: Filter, row: { json: string; created: number }): boolean {
  if (filter.before !== null && row.created >= filter.before) return false
  const [, thread, account = '', session = ''] = FROM.exec(row.json) ?? []
  if (filter.thread !== null && thread !== filter.thread) return false
  if (filter.from !== null && canonical(account) !== filter.from.account) return false
  if (filter.from?.session != null && !session.startsWith(filter.from.session)) return false
  if (filter.subject === null && filter.replyTo === null) return true
  const { subject, reply_to } = readFragment(row.json)
  if (filter.replyTo !== null && reply_to !== filter.replyTo) return false
  return filter.subject === null || subject.toLowerCase().includes(filter.subject.toLowerCase())
}
