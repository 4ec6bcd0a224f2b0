// archive: closed mail of the caller, newest first, by sender, room and time.
import { KIND, type PageRow } from '../store/rows.ts'
import type { Json } from '../wire/json.ts'
import { Refusal } from '../wire/refusal.ts'
import type { ArchiveRequest } from '../wire/requests.ts'
import { positionOf } from './cursor.ts'
import { addressee, briefText, letterText, previewText, rowSuffix, toText } from './letter.ts'
import type { Caller, Mail } from './mail.ts'
import { checkKnown, fits, type Sender, senderMeant } from './match.ts'
import { fillPage, hasLetter, listAnswer } from './page.ts'

/** The cursor goes on towards the older ones. @throws Refusal `cursor_expired`, `unknown_room`, `unknown_participant` */
export function archive(mail: Mail, caller: Caller, request: ArchiveRequest): Json {
  const { store } = mail
  const before = positionOf(store, request.cursor) ?? Number.MAX_SAFE_INTEGER
  const since = request.since_unix_ms ?? 0
  const now = mail.now()
  const rows = store.keeping.archive(caller.account, caller.session.box, before)
  const suffix = (row: PageRow) => {
    const message = row.kind === KIND.session ? store.message(row.id) : null
    return rowSuffix(mail, row, toText(addressee(mail, caller, row, message)), now)
  }
  const sender = request.written_by == null ? null : senderMeant(mail, caller, 'written_by', request.written_by)
  const page = fillPage(since === 0 ? rows : from(rows, store.sequenceSince(since)), request, 0, {
    visible: wanted(mail, request, sender, since),
    text: (row) => (request.brief ? briefText : letterText)(row.json, suffix(row)),
    short: (row, limit) => previewText(row.json, suffix(row), limit),
  })
  if (page.shown.length === 0 && !page.more && request.cursor == null) checkKnown(mail, caller, sender?.account)
  return listAnswer(store, 'messages', page, request, now)
}

/** Nothing below `least` is as young as is asked for. */
function* from(rows: Iterable<PageRow>, least: number): Generator<PageRow> {
  for (const row of rows) {
    if (row.id < least) return
    yield row
  }
}

function wanted(mail: Mail, request: ArchiveRequest, from: Sender | null, since: number): (row: PageRow) => boolean {
  const filter = { from, subject: null, thread: null, replyTo: null, before: null }
  const room = request.room == null ? null : mail.store.registry.room(request.room)
  if (room === undefined) throw new Refusal('unknown_room', `no room ${request.room}`, { room: request.room })
  const until = request.until_unix_ms ?? Number.MAX_SAFE_INTEGER
  return (row) =>
    hasLetter(row) &&
    row.created >= since &&
    row.created < until &&
    (room === null || (row.kind === KIND.room && row.room === room.id)) &&
    fits(filter, row)
}
