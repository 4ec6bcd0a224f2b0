// search: full text over subjects and bodies of what the caller may read, newest first.
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
  const found = await hits(mail, caller, request.query, before, (request.limit ?? LIMITS.pageDefault) + 1)
  const now = mail.now()
  const page = fillPage(found, request, 0, { ...showMessages(mail, caller, now), visible: () => true })
  return listAnswer(mail.store, 'messages', page, request, now)
}

/** The index narrows by mailbox; whether the caller may read a hit is decided where it always is. */
async function hits(mail: Mail, caller: Caller, query: string, before: number, wanted: number): Promise<MessageRow[]> {
  const { account, session } = caller
  const scope = account.can.operator ? 'all' : { boxes: [session.box, account.box], account: account.id }
  const found: MessageRow[] = []
  for (let below = before; ; ) {
    const ids = await mail.store.search(query, scope, below, wanted)
    for (const id of ids) {
      const message = mail.store.message(id)
      if (message && mayRead(mail, caller, message)) found.push(message)
      if (found.length === wanted) return found
    }
    const last = ids.at(-1)
    if (last === undefined || ids.length < wanted) return found
    below = last
  }
}
