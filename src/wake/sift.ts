// Which letters of a mailbox may wake it now: unread, nobody's already, not suppressed, and allowed by the policy.
import { isImported, readFragment } from '../engine/fragment.ts'
import type { Mail } from '../engine/mail.ts'
import { type AccountRow, type EventRow, KIND, type MessageRow, type SessionRow } from '../store/rows.ts'
import { LIMITS } from '../wire/limits.ts'
import type { WakePolicy } from '../wire/wake.ts'
import { forbids } from './policy.ts'

export type Sifted = {
  /** Ascending. */
  wanted: MessageRow[]
  /** The policy says no: they never wake anybody. */
  refused: number[]
  /** Why the last of those may not. */
  why: string | null
}

/** Up to which letter a session has been given or told its mail. */
export type Seen = (session: SessionRow) => number

export function sift(
  mail: Mail,
  account: AccountRow,
  session: SessionRow | null,
  ids: readonly number[],
  policy: WakePolicy,
  seen: Seen,
): Sifted {
  const sifted: Sifted = { wanted: [], refused: [], why: null }
  const box = session?.box ?? account.box
  const readers = readersOf(mail, account, session)
  for (const id of [...ids].sort((a, b) => a - b)) {
    const copy = mail.store.delivery(id, [box])
    if (copy?.closed !== 0 || copy.opened !== null) continue
    if (mail.store.registry.claim(box, id, mail.now())) continue
    const message = mail.store.message(id)
    if (!message || message.hop > LIMITS.hopQuiet || isImported(message.json)) continue
    // its agent is started for it already
    if (mail.store.dispatches.ofMessage(id)) continue
    const stored = readFragment(message.json)
    if (stored.wake_suppressed !== undefined) continue
    // a sender has seen what it wrote, and a reader that was given it needs no second word
    if (readers.some((one) => one.box !== message.senderBox && seen(one) >= id)) continue
    const from = stored.from_text.replace(/\/s-[0-9a-f]+/, '')
    const why = forbids(policy, account.name, { kind: copy.kind, from, subject: stored.subject, body: stored.body })
    if (why === null) sifted.wanted.push(message)
    else {
      sifted.refused.push(id)
      sifted.why = why
    }
  }
  return sifted
}

/** Boxes of the sessions that wrote these. */
export const writersOf = (messages: readonly MessageRow[]): ReadonlySet<number> =>
  new Set(messages.map(({ senderBox }) => senderBox))

/** Who reads that mailbox: the session, or every session of the account. */
function readersOf(mail: Mail, account: AccountRow, session: SessionRow | null): readonly SessionRow[] {
  if (session !== null) return [session]
  return mail.store.registry.sessionsOf(account.id, Number.MAX_SAFE_INTEGER)
}

/** What is due in a mailbox: its letters from `first` on that nobody has opened. */
export function dueIds(mail: Mail, account: AccountRow, box: number, first: number): number[] {
  return mail.store
    .unopened(account, DUE_MOST)
    .filter((row) => row.box === box && row.id >= first)
    .map(({ id }) => id)
}

/** Letters of one account that are looked at when somebody comes. */
const DUE_MOST = 500

/** A room letter wakes the members, never a session of the account that wrote it. */
export const concerns = (to: { kind: number; account: number }, sender: number): boolean =>
  to.kind !== KIND.room || to.account !== sender

/** The account whose mailbox that is, its own or a session's; null where it is no more. `known`: its row id, where it is known. */
export function ownerOf({ registry }: Mail['store'], box: number, known: number | undefined): AccountRow | null {
  const id = registry.sessionByBox(box)?.account ?? known
  const owner = id === undefined ? registry.accounts().find((one) => one.box === box) : registry.accountById(id)
  return owner && registry.account(owner.name)?.id === owner.id ? owner : null
}

/** The agent that was woken for these has neither opened them all nor been given its mail since. */
export function isSpokenFor(mail: Mail, account: AccountRow, box: number, ids: readonly number[]): boolean {
  const isRead = ids.every((id) => {
    const copy = mail.store.delivery(id, [box])
    return copy?.closed !== 0 || copy.opened !== null
  })
  const newest = Math.max(...ids)
  const own = box === account.box ? null : (mail.store.registry.sessionByBox(box) ?? null)
  return !isRead && !readersOf(mail, account, own).some((one) => one.given >= newest)
}

/** Events read at once. */
const PAGE = 500

/** The log behind `after`, to its end. */
export function* eventsSince(store: Mail['store'], after: number): Generator<EventRow> {
  for (let from = after; ; ) {
    const page = store.events(from, PAGE)
    yield* page
    const last = page.at(-1)
    if (!last) return
    from = last.id
  }
}
