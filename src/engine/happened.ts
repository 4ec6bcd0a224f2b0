// An event of the log as its reader is told of it.
import type { DispatchEventRow, EventRow } from '../store/rows.ts'
import type { DispatchEvent, MailEvent } from '../wire/events.ts'
import { messageId } from '../wire/names.ts'
import { rfc3339 } from '../wire/time.ts'
import { maySee } from './dispatch/view.ts'
import type { Caller, Mail } from './mail.ts'
import { mayRead } from './may-read.ts'

/** Null: it is about something that is not the caller's to see, or not kept any more. */
export function happened(mail: Mail, caller: Caller, event: EventRow): MailEvent | DispatchEvent | null {
  if (event.dispatch !== null) return dispatchEvent(mail, caller, event)
  const message = mail.store.message(event.message)
  if (!message || !mayRead(mail, caller, message)) return null
  return { kind: event.kind, message_id: messageId(message.id, message.random), at: rfc3339(event.at) }
}

function dispatchEvent(mail: Mail, caller: Caller, event: DispatchEventRow): DispatchEvent | null {
  const { store } = mail
  const row = store.dispatches.get(event.dispatch)
  if (!row || !maySee(caller, row)) return null
  const message = event.message === 0 ? null : store.message(event.message)
  const told = {
    kind: event.kind,
    dispatch: event.dispatch,
    agent: store.registry.accountById(event.account)?.name ?? 'unknown',
    message_id: message && messageId(message.id, message.random),
    ...(event.attempt === null ? {} : { attempt: event.attempt }),
  }
  const at = rfc3339(event.at)
  if (event.reason === null) return { ...told, at }
  return event.attempt === null ? { ...told, outcome: event.reason, at } : { ...told, cause: event.reason, at }
}
