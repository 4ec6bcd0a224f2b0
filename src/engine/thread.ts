// thread: the conversation that a message belongs to, oldest first, as far as the caller may read it.
import type { Json } from '../wire/json.ts'
import type { ThreadRequest } from '../wire/requests.ts'
import { positionOf } from './cursor.ts'
import type { Caller, Mail } from './mail.ts'
import { mayRead, readable } from './may-read.ts'
import { fillPage, listAnswer, showMessages } from './page.ts'

/** Any message of the thread names it. @throws Refusal `unknown_message`, `cursor_expired` */
export function thread(mail: Mail, caller: Caller, request: ThreadRequest): Json {
  const { store } = mail
  const after = positionOf(store, request.cursor) ?? 0
  const root = readable(mail, caller, request.message_id).thread
  const now = mail.now()
  const page = fillPage(store.thread(root, after), request, 0, {
    ...showMessages(mail, caller, request.brief === true, now),
    visible: (message) => mayRead(mail, caller, message),
  })
  return listAnswer(store, 'messages', page, request, now)
}
