// inbox: what is not closed, oldest first, within the budget; may wait for more. Reading never closes anything.
import { KIND, type PageRow } from '../store/rows.ts'
import { Json } from '../wire/json.ts'
import { LIMITS } from '../wire/limits.ts'
import type { InboxRequest } from '../wire/requests.ts'
import { attentionOf, openPassed } from './attention.ts'
import { cursorAt, positionOf } from './cursor.ts'
import { addressee, briefText, ownAddress, previewText, rowSuffix, sizedLetter, toText } from './letter.ts'
import type { Caller, Mail, Patience } from './mail.ts'
import { orphansText } from './orphans.ts'
import { endText, type Filled, fillPage, hasLetter } from './page.ts'
import { tellNotified } from './told.ts'
import { waitFor } from './wait.ts'
import { addressOf } from './who.ts'

/**
 * One page of the caller's mailbox: its account's mail, its rooms' and its own. Without `patience` a wait is not held. A brief
 * page is a list of headings: nobody has read what is on it, so neither it nor going on behind it opens anything.
 * @throws Refusal `cursor_expired`; what `waitFor` throws
 */
export async function inbox(mail: Mail, caller: Caller, request: InboxRequest, patience?: Patience): Promise<Json> {
  const { store } = mail
  const { account, session } = caller
  const attention = attentionOf(session)
  const cursor = positionOf(store, request.cursor)
  const state = request.state ?? 'open'
  const plain = state === 'open' && request.since_unix_ms == null
  const seconds = request.wait_secs ?? 0
  const given = plain ? session.given : Math.max(session.given, attention.filtered.get(state) ?? 0)
  const after = cursor ?? (seconds > 0 ? given : 0)
  const orphaned =
    state === 'open' && cursor === null
      ? orphansText(mail, caller, (request.max_bytes ?? LIMITS.budgetDefault) / 4)
      : ''

  const passing = cursor === null || request.brief ? null : openPassed(mail, caller, cursor)
  let page = readPage(mail, caller, request, after, orphaned.length)
  let from = after
  // a page that stopped before it found anything ends a wait too: its cursor goes on, and nobody is held meanwhile
  const ready = () => page.shown.length > 0 || page.more
  const look = () => {
    if (ready()) return true
    from = page.end ?? from
    page = readPage(mail, caller, request, from, orphaned.length)
    return ready()
  }
  if (passing) await passing
  let waited: number | null = null
  if (seconds > 0 && patience) waited = ready() ? 0 : await waitFor(mail, caller, seconds, patience, look)

  const end = page.end ?? (from > after ? from : null)
  // a client that has left was given nothing
  if (end !== null && !patience?.signal.aborted) {
    tellNotified(mail, page.shown)
    if (!request.brief) for (const row of page.shown) attention.withheld.delete(row.id)
    for (const row of request.brief ? page.shown : page.cut ? [page.cut] : [])
      for (const set of [attention.withheld, attention.cut]) set.add(row.id)
    if (!plain) {
      attention.filtered.set(state, Math.max(attention.filtered.get(state) ?? 0, end))
      if (attention.listed.size > REMEMBERED) attention.listed.clear()
      for (const row of page.shown) if (row.closed === 0) attention.listed.add(row.id)
    } else if (after <= session.given && end > session.given) {
      session.given = end
      store.touchSession(session)
    }
  }
  const unread = store.unread(account.box, session.box)
  const held = waited === null ? '' : `"waited_secs":${waited},`
  const ending = endText(page.more, cursorAt(store, end, request.cursor), mail.now())
  return new Json(`{"messages":[${page.text}],"unread":${unread},${orphaned}${held}${ending}}`)
}

/** Ids of letters that calls with a filter have shown to one session. */
const REMEMBERED = 10_000

function readPage(mail: Mail, caller: Caller, request: InboxRequest, after: number, taken: number): Filled<PageRow> {
  const { store } = mail
  const { registry } = store
  const { account, session } = caller
  const now = mail.now()
  const state = request.state ?? 'open'
  const claims = state === 'open' && registry.claimsByOthers(account.box, session.id, now) > 0
  const { withheld } = attentionOf(session)
  const toAccount = toText(ownAddress(caller))
  const toSession = toText(addressOf(caller))

  const visible = (row: PageRow): boolean => {
    if (!hasLetter(row)) return false
    if (state === 'new' || state === 'opened') return (row.opened === null) === (state === 'new')
    if (!claims || row.kind !== KIND.account) return true
    const claim = registry.claim(row.box, row.id, now)
    if (!claim || claim.session === session.id) return true
    withheld.add(row.id)
    return false
  }
  const to = (row: PageRow): string => {
    if (row.kind === KIND.account) return toAccount
    if (row.kind === KIND.room) return toText(addressee(mail, caller, row, null))
    // session mail from before this session was registered may have been written to a predecessor's address
    if (row.kind === KIND.session && row.created > session.firstSeen) return toSession
    return toText(addressee(mail, caller, row, store.message(row.id)))
  }
  const rows = store.page({
    accountBox: account.box,
    sessionBox: session.box,
    which: state === 'closed' || state === 'all' ? state : 'open',
    after,
    since: request.since_unix_ms ?? null,
    expect: (request.limit ?? LIMITS.pageDefault) + 1,
  })
  return fillPage(rows, request, taken, {
    visible,
    text: (row) => (request.brief ? briefText : sizedLetter)(row.json, rowSuffix(mail, row, to(row), now)),
    short: (row, limit) => previewText(row.json, rowSuffix(mail, row, to(row), now), limit),
  })
}
