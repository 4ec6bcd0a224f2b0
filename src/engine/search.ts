// search: full text over subjects and bodies of what the caller may read, newest first.
import { setImmediate } from 'node:timers/promises'
import type { MessageRow } from '../store/rows.ts'
import type { Json } from '../wire/json.ts'
import { LIMITS } from '../wire/limits.ts'
import type { SearchRequest } from '../wire/requests.ts'
import { checkLine } from '../wire/text.ts'
import { positionOf } from './cursor.ts'
import type { Caller, Mail } from './mail.ts'
import { mayRead } from './may-read.ts'
import { fillPage, listAnswer, showMessages } from './page.ts'

/** The cursor goes on towards the older ones. @throws Refusal `too_large`, `malformed`, `cursor_expired` */
export async function search(mail: Mail, caller: Caller, request: SearchRequest): Promise<Json> {
  checkLine('query', request.query, LIMITS.query)
  const before = positionOf(mail.store, request.cursor) ?? Number.MAX_SAFE_INTEGER
  // one more than a page tells whether there are more
  const wanted = (request.limit ?? LIMITS.pageDefault) + 1
  const { found, stopped } = await hits(mail, caller, request.query, before, wanted)
  const now = mail.now()
  const page = fillPage(found, request, 0, { ...showMessages(mail, caller, now), visible: () => true })
  if (stopped !== null && !page.more) {
    page.more = true
    page.end = stopped
  }
  return listAnswer(mail.store, 'messages', page, request, now)
}

/** Hits looked at for one page: who has left a big room may read none of thousands. */
const CANDIDATES = 1_000
/** Hits looked at before others are served in between. */
const SLICE = 100

/** `stopped`: the id above which everything was looked at, where that was enough for one page. */
type Hits = { found: MessageRow[]; stopped: number | null }

/** The index narrows by mailbox; whether the caller may read a hit is decided where it always is. */
async function hits(mail: Mail, caller: Caller, query: string, before: number, wanted: number): Promise<Hits> {
  const { account, session } = caller
  const scope = account.can.operator ? 'all' : { boxes: [session.box, account.box], account: account.id }
  const found: MessageRow[] = []
  const size = Math.min(wanted, SLICE)
  for (let below = before, left = CANDIDATES; ; left -= size) {
    const ids = await mail.store.search(query, scope, below, size)
    for (const id of ids) {
      const message = mail.store.message(id)
      if (message && mayRead(mail, caller, message)) found.push(message)
      if (found.length === wanted) return { found, stopped: null }
    }
    const last = ids.at(-1)
    if (last === undefined || ids.length < size) return { found, stopped: null }
    if (left <= size) return { found, stopped: last }
    below = last
    await setImmediate()
  }
}
