// search: full text over subjects and bodies of what the caller may read, newest first; narrowed by sender, recipient, state, time.
import { setImmediate } from 'node:timers/promises'
import { KIND, type MessageRow } from '../store/rows.ts'
import type { SearchScope } from '../store/store.ts'
import { type Address, parseAddress, sameAddress } from '../wire/address.ts'
import type { Json } from '../wire/json.ts'
import { LIMITS } from '../wire/limits.ts'
import { malformed } from '../wire/refusal.ts'
import type { SearchRequest } from '../wire/requests.ts'
import { checkLine } from '../wire/text.ts'
import { copyOf } from './copy.ts'
import { positionOf } from './cursor.ts'
import { threadOf } from './fragment.ts'
import type { Caller, Mail } from './mail.ts'
import { checkKnown, type Filter, fits, senderMeant } from './match.ts'
import { mayRead, readable } from './may-read.ts'
import { fillPage, listAnswer, showMessages } from './page.ts'
import { knownRoom } from './rooms.ts'
import { meant } from './visible.ts'

/**
 * All that is given has to hold; without words a filter is enough. The cursor goes on towards the older ones.
 * @throws Refusal `too_large`, `malformed`, `cursor_expired`, `unknown_message` for the thread, `unknown_participant`, `unknown_room`
 */
export async function search(mail: Mail, caller: Caller, request: SearchRequest): Promise<Json> {
  const { store } = mail
  const { written_by, to, state, box, thread, since_unix_ms, until_unix_ms } = request
  const query = request.query ?? null
  if (query !== null) checkLine('query', query, LIMITS.query)
  if ([query, written_by, to, state, box, thread, since_unix_ms, until_unix_ms].every((one) => one == null))
    throw malformed('query', 'is missing; give words or a filter')
  const wish: Wish = {
    filter: {
      from: written_by == null ? null : senderMeant(mail, caller, 'written_by', written_by),
      subject: null,
      thread: thread == null ? null : threadOf(readable(mail, caller, thread).json),
      replyTo: null,
      before: until_unix_ms ?? null,
    },
    to: to == null ? null : meant(mail, caller, parseAddress(to)),
    state: state ?? null,
    box: box ?? null,
    after: since_unix_ms == null ? 0 : store.sequenceSince(since_unix_ms) - 1,
    since: since_unix_ms ?? 0,
  }
  const before = positionOf(store, request.cursor) ?? Number.MAX_SAFE_INTEGER
  // one more than a page tells whether there are more
  const wanted = (request.limit ?? LIMITS.pageDefault) + 1
  const { found, stopped } = await hits(mail, caller, query, wish, before, wanted)
  if (found.length === 0 && stopped === null && request.cursor == null) {
    checkKnown(mail, caller, wish.filter.from?.account)
    if (wish.to?.kind === 'room') knownRoom(mail, wish.to.room)
    else if (wish.to?.machine === undefined) checkKnown(mail, caller, wish.to?.participant)
  }
  const now = mail.now()
  const page = fillPage(found, request, 0, {
    ...showMessages(mail, caller, request.brief === true, now),
    visible: () => true,
  })
  if (stopped !== null && !page.more) {
    page.more = true
    page.end = stopped
  }
  return listAnswer(store, 'messages', page, request, now)
}

/** `after`: the sequence below which nothing is as young as `since`. */
type Wish = {
  filter: Filter
  to: Address | null
  state: 'new' | 'opened' | 'closed' | null
  box: 'received' | 'sent' | null
  after: number
  since: number
}

/** Hits looked at for one page: who has left a big room may read none of thousands. */
const CANDIDATES = 1_000
/** Hits looked at before others are served in between. */
const SLICE = 100

/** `stopped`: the id above which everything was looked at, where that was enough for one page. */
type Hits = { found: MessageRow[]; stopped: number | null }

/** The index narrows by mailbox; whether the caller may read a hit is decided where it always is. */
async function hits(
  mail: Mail,
  caller: Caller,
  query: string | null,
  wish: Wish,
  before: number,
  wanted: number,
): Promise<Hits> {
  const scope = scopeOf(mail, caller, wish)
  const found: MessageRow[] = []
  const isNarrow = wish.to !== null || wish.state !== null || wish.filter.thread !== null
  const size = isNarrow ? SLICE : Math.min(wanted, SLICE)
  for (let below = before, left = CANDIDATES; ; left -= size) {
    const ids = await mail.store.search(query, scope, below, size)
    for (const id of ids) {
      const message = id <= wish.after ? null : mail.store.message(id)
      if (message && mayRead(mail, caller, message) && isWished(mail, caller, wish, message)) found.push(message)
      if (found.length === wanted) return { found, stopped: null }
    }
    const last = ids.at(-1)
    if (last === undefined || ids.length < size || last <= wish.after) return { found, stopped: null }
    if (left <= size) return { found, stopped: last }
    below = last
    await setImmediate()
  }
}

function scopeOf(mail: Mail, { account, session }: Caller, { filter, box }: Wish): SearchScope {
  const boxes = [session.box, account.box]
  // the token of the sender's account stands on what all its sessions may see; operators look at the names alone
  if (account.can.operator && box === null) return 'all'
  const sender = filter.from === null ? undefined : mail.store.registry.account(filter.from.account)
  const own = sender?.id === account.id
  if (box === 'sent') return { boxes: [session.box], account: account.id }
  return box === 'received' || (sender && !own) ? { boxes, account: null } : { boxes, account: account.id }
}

function isWished(mail: Mail, caller: Caller, { filter, to, state, box, since }: Wish, message: MessageRow): boolean {
  if (message.created < since || !fits(filter, message)) return false
  if (to !== null && !isTo(to, message)) return false
  if (box === null && state === null) return true
  const copy = copyOf(mail, caller, message)
  if (box === 'received' && copy === null) return false
  if (box === 'sent' && message.account !== caller.account.id) return false
  if (state === null) return true
  if (copy === null) return false
  return state === (copy.closed === 1 ? 'closed' : copy.opened === null ? 'new' : 'opened')
}

/** To that account, one of its sessions, or that room; an account counts for its sessions, a prefix for the session. */
const isTo = (to: Address, { recipients }: MessageRow): boolean =>
  recipients.some((one) => {
    const address = parseAddress(one.text)
    if (sameAddress(address, to)) return true
    if (one.kind !== KIND.session || address.kind !== 'session' || to.kind === 'room') return false
    if (address.participant.toLowerCase() !== to.participant.toLowerCase()) return false
    return to.kind === 'direct' || address.session.startsWith(to.session)
  })
