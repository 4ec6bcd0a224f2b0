// export: mail to be carried elsewhere, whole, in the order in which it came, with the state of each copy. Changes nothing.
import { setImmediate } from 'node:timers/promises'
import { KIND, type MessageRow, type Recipient } from '../store/rows.ts'
import { Json } from '../wire/json.ts'
import { LIMITS } from '../wire/limits.ts'
import { canonical } from '../wire/names.ts'
import { denied, malformed } from '../wire/refusal.ts'
import type { ExportRequest } from '../wire/requests.ts'
import { bytes } from '../wire/text.ts'
import { cursorAt, positionOf } from './cursor.ts'
import { stateText } from './letter.ts'
import type { Caller, Mail } from './mail.ts'
import { mayRead, readable } from './may-read.ts'
import { endText, LOOKED_AT } from './page.ts'
import { knownAccount } from './visible.ts'

/** Messages read at once. */
const SLICE = 64

/**
 * The caller's own mailbox, a thread as far as it may read it, or for operators the mail of an account or of all. No letter is
 * cut: one that alone is over the budget is an answer of its own.
 * @throws Refusal `permission_denied`, `malformed`, `unknown_message`, `unknown_participant`, `cursor_expired`
 */
export async function exportMail(mail: Mail, caller: Caller, request: ExportRequest): Promise<Json> {
  const { store } = mail
  const budget = (request.max_bytes ?? LIMITS.budgetDefault) - 200
  const { belongs, sees, thread } = scope(mail, caller, request)
  let after = positionOf(store, request.cursor) ?? 0
  const texts: string[] = []
  let used = 0
  const now = mail.now()
  const answer = (more: boolean) =>
    new Json(`{"letters":[${texts.join()}],${endText(more, cursorAt(store, after, request.cursor), now)}}`)
  for (let looked = 0; looked < LOOKED_AT; await setImmediate()) {
    const rows = thread === null ? store.keeping.messages(after, SLICE) : slice(store.thread(thread, after))
    for (const message of rows) {
      if (belongs(message)) {
        const text = lineText(mail, message, (to) => sees(message, to), now)
        const size = bytes(text) + 1
        if (used > 0 && used + size > budget) return answer(true)
        texts.push(text)
        used += size
      }
      after = message.id
    }
    looked += rows.length
    if (rows.length < SLICE) return answer(false)
  }
  return answer(true)
}

function slice(rows: Iterable<MessageRow>): MessageRow[] {
  const found: MessageRow[] = []
  for (const row of rows) {
    found.push(row)
    if (found.length === SLICE) break
  }
  return found
}

type Scope = {
  belongs: (message: MessageRow) => boolean
  /** May this copy's state be told? */
  sees: (message: MessageRow, to: Recipient) => boolean
  thread: number | null
}

function scope(mail: Mail, caller: Caller, request: ExportRequest): Scope {
  const { account, session } = caller
  const other = request.of != null && canonical(request.of) !== canonical(account.name)
  if ([request.message_id, request.of, request.all || null].filter((one) => one != null).length > 1)
    throw malformed('message_id', 'only one of message_id, of and all can be asked for')
  if ((other || request.all) && !account.can.operator) throw denied('operator')
  const all = () => true
  if (request.all) return { belongs: all, sees: all, thread: null }
  if (request.of != null && other) {
    const { id } = knownAccount(mail, request.of)
    const belongs = (message: MessageRow) =>
      message.account === id || message.recipients.some((to) => to.account === id)
    return { belongs, sees: all, thread: null }
  }
  const own = (message: MessageRow, to: Recipient) =>
    message.account === account.id || to.box === account.box || to.box === session.box
  if (request.message_id != null) {
    const thread = readable(mail, caller, request.message_id).thread
    const sees = account.can.operator ? all : own
    return { belongs: (message) => mayRead(mail, caller, message), sees, thread }
  }
  // an operator may read everything, but its mailbox is what it would see without that
  const plain: Caller = { session, account: { ...account, can: { ...account.can, operator: false } } }
  return { belongs: (message) => mayRead(mail, plain, message), sees: own, thread: null }
}

function lineText(mail: Mail, message: MessageRow, sees: (to: Recipient) => boolean, now: number): string {
  const copies = message.recipients.filter(sees).map((to) => copyText(mail, message, to, now))
  return `{${message.json},"deliveries":[${copies.filter((text) => text !== null).join()}]}`
}

/** null where there is no copy any more, or where it is the sender's own of a room post, with which nothing was done. */
function copyText(mail: Mail, message: MessageRow, to: Recipient, now: number): string | null {
  const { keeping, registry } = mail.store
  const account = registry.accountById(to.account)
  const released = to.kind === KIND.session && account ? account.box : to.box
  const copy = keeping.copy(to.box, message.id) ?? keeping.copy(released, message.id)
  if (!copy) return null
  if (to.kind === KIND.room && to.account === message.account && copy.opened === null && copy.closed !== 1) return null
  const name = account ? JSON.stringify(account.name) : 'null'
  const hidden = copy.closed === 2
  const state = stateText(mail, hidden ? { ...copy, closed: 0 } : copy, now)
  const more = `${hidden ? ',"hidden":true' : ''}${copy.updates > 0 ? `,"updates":${copy.updates}` : ''}`
  return `{"to_text":"${to.text}","participant":${name},${state}${more}}`
}
