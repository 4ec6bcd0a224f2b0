// sent: what the account sent, newest first, each with what became of it.
import type { MessageRow } from '../store/rows.ts'
import type { Json } from '../wire/json.ts'
import type { SentRequest } from '../wire/requests.ts'
import { positionOf } from './cursor.ts'
import { briefText, letterText, messageSuffix, previewText } from './letter.ts'
import type { Caller, Mail } from './mail.ts'
import { mayRead } from './may-read.ts'
import { fillPage, hasLetter, listAnswer } from './page.ts'
import { fittingReceipts, receiptsText } from './receipt.ts'

/** The cursor goes on towards the older ones. @throws Refusal `cursor_expired` */
export function sent(mail: Mail, caller: Caller, request: SentRequest): Json {
  const { store } = mail
  const now = mail.now()
  const page = fillPage(sentBefore(mail, caller, positionOf(store, request.cursor)), request, 0, {
    visible: (message) => hasLetter(message) && mayRead(mail, caller, message),
    text: (message) => {
      const suffix = suffixOf(message, receiptsText(mail, caller, message, now))
      return (request.brief ? briefText : letterText)(message.json, suffix)
    },
    short: (message, limit) => {
      const receipts = fittingReceipts(receiptsText(mail, caller, message, now), limit / 2)
      return previewText(message.json, suffixOf(message, receipts), limit)
    },
  })
  return listAnswer(store, 'messages', page, request, now)

  function suffixOf(message: MessageRow, receipts: string): string {
    return `${messageSuffix(mail, caller, message, now)},"deliveries":${receipts}`
  }
}

/** What the caller's account sent, newest first, below `position`; without its letter what this session may not see as sent. */
export const sentBefore = (mail: Mail, { account, session }: Caller, position: number | null) =>
  mail.store.sent(account.id, [0, session.box], position ?? Number.MAX_SAFE_INTEGER)
