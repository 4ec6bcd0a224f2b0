// close_all: closes what was listed, or what a filter finds, and says how many. What came after it was asked stays.
import type { PageRow } from '../store/rows.ts'
import type { CloseAllAnswer, CloseAllRequest } from '../wire/filter.ts'
import type { Message } from '../wire/letter.ts'
import { LIMITS } from '../wire/limits.ts'
import { cursorOf, messageId } from '../wire/names.ts'
import { malformed } from '../wire/refusal.ts'
import { rfc3339 } from '../wire/time.ts'
import { attentionOf } from './attention.ts'
import { refusalOf } from './batch.ts'
import { positionOf } from './cursor.ts'
import { isClaimedByOther } from './follow.ts'
import { readFragment, threadOf } from './fragment.ts'
import { ownAddress, previewText, rowSuffix, toText } from './letter.ts'
import type { Caller, Mail } from './mail.ts'
import { checkKnown, type Filter, fits, senderMeant } from './match.ts'
import { readable } from './may-read.ts'
import { hasLetter, LOOKED_AT } from './page.ts'

/** Sessions that ended this long ago still count as ones that mail was listed to. */
const LISTED_MS = 3_600_000
/** Letters that a dry run shows, and bytes of each. */
const SHOWN = 256
const PREVIEW = 2_000

/**
 * One call is one transaction of at most `LIMITS.sweep` letters. What siblings have claimed is left to them.
 * @throws Refusal `malformed` where nothing says which, `unknown_participant` for a sender that nobody is, `unknown_message`, `cursor_expired`
 */
export async function closeAll(mail: Mail, caller: Caller, request: CloseAllRequest): Promise<CloseAllAnswer> {
  const { store } = mail
  const { account, session } = caller
  const upTo = positionOf(store, request.up_to) ?? store.head
  // that mail was listed is written behind the answer: by the time this comes back, it is on the disk
  if (request.listed != null) await store.settle(account, session, [], 'acknowledged')
  const filter = filterOf(mail, caller, request)
  const found = find(mail, caller, request, filter, upTo)
  if (request.cursor == null && found.rows.length + found.unlisted === 0 && !found.more)
    checkKnown(mail, caller, filter.from?.account)
  const settled =
    request.dry_run || found.rows.length === 0
      ? []
      : await store.settle(
          account,
          session,
          found.rows.map((row) => row.id),
          'acknowledged',
        )
  const names = new Map(found.rows.map((row) => [row.id, readFragment(row.json).message_id]))
  const results = settled.map((one) => {
    const message_id = names.get(one.id) ?? messageId(one.id, '')
    const refusal = refusalOf(mail, message_id, one)
    return refusal ? { message_id, ok: false, refusal: refusal.toJSON() } : { message_id, ok: true }
  })
  return {
    closed: results.filter((one) => one.ok).length,
    results,
    ...(request.dry_run ? { messages: found.rows.slice(0, SHOWN).map((row) => preview(mail, caller, row)) } : {}),
    unlisted: found.unlisted,
    up_to: cursorOf(store.epoch, upTo),
    has_more: found.more,
    cursor: found.end === null ? null : cursorOf(store.epoch, found.end),
    unread: store.unread(account.box, session.box),
    now: rfc3339(mail.now()),
  }
}

type Found = { rows: PageRow[]; unlisted: number; more: boolean; end: number | null }

function find(mail: Mail, caller: Caller, request: CloseAllRequest, filter: Filter, upTo: number): Found {
  const { account, session } = caller
  const now = mail.now()
  const listed = listedTo(mail, caller, request)
  const found: Found = { rows: [], unlisted: 0, more: false, end: null }
  let looked = 0
  for (const row of mail.store.page({
    accountBox: account.box,
    sessionBox: session.box,
    which: 'open',
    after: positionOf(mail.store, request.cursor) ?? 0,
    since: null,
    expect: LIMITS.sweep,
  })) {
    if (row.id > upTo) break
    if (found.rows.length === LIMITS.sweep || looked++ === LOOKED_AT) {
      found.more = true
      break
    }
    found.end = row.id
    if (!hasLetter(row) || isClaimedByOther(mail, caller, row, now)) continue
    if (request.state != null && (row.opened === null) !== (request.state === 'new')) continue
    if (!fits(filter, row)) continue
    if (listed(row)) found.rows.push(row)
    else found.unlisted++
  }
  return found
}

/** @throws Refusal `malformed`: without anything that narrows it, it would close what nobody has seen */
function filterOf(mail: Mail, caller: Caller, request: CloseAllRequest): Filter {
  const { written_by, subject, thread, older_than_secs, state, listed } = request
  if ([written_by, subject, thread, older_than_secs, state, listed].every((one) => one == null))
    throw malformed('listed', 'is missing; say which letters: listed, or a filter')
  return {
    from: written_by == null ? null : senderMeant(mail, caller, 'written_by', written_by),
    subject: subject ?? null,
    thread: thread == null ? null : threadOf(readable(mail, caller, thread).json),
    replyTo: null,
    before: older_than_secs == null ? null : mail.now() - older_than_secs * 1_000,
  }
}

/**
 * Was a letter listed, or opened, by this session or by any of its account? The watermark of the inbox tells, and what calls with
 * a filter have shown: a bell or a notice lists nothing.
 */
function listedTo(mail: Mail, { account, session }: Caller, { listed }: CloseAllRequest): (row: PageRow) => boolean {
  if (listed == null) return () => true
  const { registry } = mail.store
  const sessions = listed === 'session' ? [session] : registry.sessionsOf(account.id, mail.now() - LISTED_MS)
  const given = Math.max(...sessions.map((one) => one.given))
  const shown = sessions.map((one) => attentionOf(one).listed)
  const { withheld, cut } = attentionOf(session)
  return (row) => {
    if (listed === 'account' ? row.opened !== null : row.openedBy === session.id) return true
    if (row.notified === null) return false
    if (shown.some((ids) => ids.has(row.id))) return true
    return row.id <= given && (!withheld.has(row.id) || cut.has(row.id))
  }
}

const preview = (mail: Mail, caller: Caller, row: PageRow): Message =>
  JSON.parse(previewText(row.json, rowSuffix(mail, row, toText(ownAddress(caller)), mail.now()), PREVIEW))
