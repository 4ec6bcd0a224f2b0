// follow: mail as it comes, by a cursor that the reader keeps. It opens nothing, so a reader that is cut off asks again and has
// neither a gap nor a letter twice.
import { KIND, type PageRow } from '../store/rows.ts'
import type { FollowRequest } from '../wire/filter.ts'
import { Json } from '../wire/json.ts'
import { canonical, cursorOf, sequenceOf } from '../wire/names.ts'
import { attentionOf } from './attention.ts'
import { positionOf } from './cursor.ts'
import { senderOf, threadOf } from './fragment.ts'
import { addressee, previewText, rowSuffix, sizedLetter, toText } from './letter.ts'
import type { Caller, Mail, Patience } from './mail.ts'
import { checkKnown, type Filter, fits, senderMeant } from './match.ts'
import { readable } from './may-read.ts'
import { endText, type Filled, fillPage, hasLetter } from './page.ts'
import { tellNotified } from './told.ts'
import { waitFor } from './wait.ts'

/**
 * Mail that is not closed, past `cursor`, or without one what this session was not given yet. With `reply_to` answers to that
 * letter, also those that have been shown or closed: that an answer came stays true.
 * @throws Refusal `unknown_message`, `cursor_expired`, `malformed` for a room as sender, `unknown_participant`; what `waitFor` throws
 */
export async function follow(mail: Mail, caller: Caller, request: FollowRequest, patience?: Patience): Promise<Json> {
  const { store } = mail
  const { account, session } = caller
  const filter = filterOf(mail, caller, request)
  const cursor = positionOf(store, request.cursor)
  const isPlain = request.written_by == null && request.thread == null && request.reply_to == null
  const start = request.reply_to == null ? session.given : sequenceOf(request.reply_to)
  if (isPlain && cursor !== null && cursor > session.given) {
    session.given = Math.min(cursor, store.head)
    store.touchSession(session)
  }
  let from = cursor ?? start
  let page = readPage(mail, caller, request, filter, from)
  const ready = () => page.shown.length > 0 || page.more
  if (!ready()) checkKnown(mail, caller, filter.from?.account)
  const look = () => {
    if (ready()) return true
    from = page.end ?? from
    page = readPage(mail, caller, request, filter, from)
    return ready()
  }
  const seconds = request.wait_secs ?? 0
  let waited: number | null = null
  if (seconds > 0 && patience) waited = ready() ? 0 : await waitFor(mail, caller, seconds, patience, look)
  if (!patience?.signal.aborted) tellNotified(mail, page.shown)
  const unread = store.unread(account.box, session.box)
  const held = waited === null ? '' : `"waited_secs":${waited},`
  const ending = endText(page.more, cursorOf(store.epoch, page.end ?? from), mail.now())
  return new Json(`{"messages":[${page.text}],"unread":${unread},${held}${ending}}`)
}

function filterOf(mail: Mail, caller: Caller, request: FollowRequest): Filter {
  const { written_by, thread, reply_to } = request
  if (reply_to != null) readable(mail, caller, reply_to)
  return {
    from: written_by == null ? null : senderMeant(mail, caller, 'written_by', written_by),
    subject: null,
    thread: thread == null ? null : threadOf(readable(mail, caller, thread).json),
    replyTo: reply_to ?? null,
    before: null,
  }
}

function readPage(mail: Mail, caller: Caller, request: FollowRequest, filter: Filter, after: number): Filled<PageRow> {
  const { store } = mail
  const { account, session } = caller
  const now = mail.now()
  const rows = store.page({
    accountBox: account.box,
    sessionBox: session.box,
    which: request.reply_to == null ? 'open' : 'all',
    after,
    since: null,
    expect: 8,
  })
  const { withheld } = attentionOf(session)
  const suffix = (row: PageRow) => {
    const message = row.kind === KIND.session ? store.message(row.id) : null
    return rowSuffix(mail, row, toText(addressee(mail, caller, row, message)), now)
  }
  return fillPage(rows, request, 0, {
    visible: (row) => {
      if (!hasLetter(row) || !fits(filter, row) || isOwnPost(caller, row)) return false
      if (!isClaimedByOther(mail, caller, row, now)) return true
      withheld.add(row.id)
      return false
    },
    text: (row) => sizedLetter(row.json, suffix(row)),
    short: (row, limit) => previewText(row.json, suffix(row), limit),
  })
}

/**
 * A person has written it itself, in whichever terminal: that is no news. Sessions of an agent's account know nothing of each
 * other's posts, so there it is.
 */
function isOwnPost({ account }: Caller, row: PageRow): boolean {
  return (
    account.kind === 'person' && row.kind === KIND.room && canonical(senderOf(row.json)) === canonical(account.name)
  )
}

/** What a sibling has taken is its to do. */
export function isClaimedByOther(mail: Mail, { session }: Caller, row: PageRow, now: number): boolean {
  if (row.kind !== KIND.account || row.closed !== 0) return false
  const claim = mail.store.registry.claim(row.box, row.id, now)
  return claim !== undefined && claim.session !== session.id
}
