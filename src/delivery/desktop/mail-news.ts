// What mail has come for an account since a position of the log, and nobody has opened: from whom, how much.
import { isImported } from '../../engine/fragment.ts'
import type { AccountRow, EventRow, MessageRow } from '../../store/rows.ts'
import type { Store } from '../../store/store.ts'
import { LIMITS } from '../../wire/limits.ts'
import { unopenedIn } from '../doorbell.ts'
import type { Senders } from './news.ts'

/** Entries read at once. */
const PAGE = 500

/** Of the log above `after` up to `upTo`; an empty map where there is no news. */
export function mailSince(store: Store, account: AccountRow, after: number, upTo: number): Senders {
  const fresh = new Map<number, string>()
  let newest = 0
  for (let at = after; at < upTo; ) {
    const events = store.events(at, PAGE)
    for (const event of events) {
      at = event.id
      if (event.id > upTo) break
      if (event.kind === 'sent') {
        newest = event.id
        const from = newsOf(store, account, event.id)
        if (from !== null) fresh.set(event.id, from)
      } else if (isQuiet(store, account, event)) fresh.delete(newest)
    }
    if (events.length < PAGE) break
  }
  const senders = new Map<string, number>()
  for (const from of fresh.values()) senders.set(from, (senders.get(from) ?? 0) + 1)
  return senders
}

/** Who wrote it; null where it is no news to the account: its own, carried in from elsewhere, seen already, or
 * such as wakes nobody. */
function newsOf(store: Store, account: AccountRow, id: number): string | null {
  const message = store.message(id)
  if (message === null || message.account === account.id || message.hop > LIMITS.hopQuiet) return null
  if (message.json.includes(SUPPRESSED) || isImported(message.json)) return null
  if (unopenedIn(store, id, boxesOf(message, account)) === null) return null
  return (FROM.exec(message.json)?.[1] ?? 'somebody').replace(/\/.*/, '')
}

/** A signal that is repeated before anybody opened it says nothing new; its event follows the message that replaced it. */
function isQuiet(store: Store, account: AccountRow, event: EventRow): boolean {
  if (event.reason !== 'superseded' || event.account !== account.id) return false
  const earlier = store.message(event.message)
  return earlier !== null && boxesOf(earlier, account).some((box) => store.delivery(earlier.id, [box])?.opened === null)
}

const boxesOf = ({ recipients }: MessageRow, account: AccountRow): number[] =>
  recipients.filter((to) => to.account === account.id).map(({ box }) => box)

/** Both are written by the engine alone; inside a text their quotes would be escaped. */
const SUPPRESSED = ',"wake_suppressed":"'
const FROM = /"from_text":"([^"]*)"/
