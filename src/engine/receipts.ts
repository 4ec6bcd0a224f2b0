// receipts: what became of what the account sent, delivery by delivery; of one message or of all, newest first.
import type { MessageRow } from '../store/rows.ts'
import type { Json } from '../wire/json.ts'
import type { ReceiptsRequest } from '../wire/requests.ts'
import { rfc3339 } from '../wire/time.ts'
import { positionOf } from './cursor.ts'
import { readFragment } from './fragment.ts'
import type { Caller, Mail } from './mail.ts'
import { mayRead, readable } from './may-read.ts'
import { fillPage, hasLetter, listAnswer } from './page.ts'
import { fittingReceipts, receiptsText } from './receipt.ts'
import { sentBefore } from './sent.ts'

/** Bytes of an entry beside its deliveries: id, an escaped subject, the time. */
const ENTRY = 1_200

/**
 * A reader who did not send the message learns what became of its own copy alone.
 * @throws Refusal `unknown_message`, `cursor_expired`
 */
export function receipts(mail: Mail, caller: Caller, request: ReceiptsRequest): Json {
  const { store } = mail
  const now = mail.now()
  const position = positionOf(store, request.cursor)
  const rows =
    request.message_id == null ? sentBefore(mail, caller, position) : [readable(mail, caller, request.message_id)]
  const page = fillPage<MessageRow>(rows, request, 0, {
    visible: (message) => hasLetter(message) && mayRead(mail, caller, message),
    text: (message) => entryText(message, receiptsText(mail, caller, message, now)),
    short: (message, limit) =>
      entryText(message, fittingReceipts(receiptsText(mail, caller, message, now), limit - ENTRY)),
  })
  return listAnswer(store, 'receipts', page, request, now)
}

function entryText(message: MessageRow, deliveries: string): string {
  const { message_id, subject } = readFragment(message.json)
  return `{"message_id":"${message_id}","subject":${JSON.stringify(subject)},"created_at":"${rfc3339(message.created)}","deliveries":${deliveries}}`
}
