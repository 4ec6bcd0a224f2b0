// get: one message, whole. Opens the caller's copy unless it only peeks; who sent it or may read it otherwise changes nothing.
import { Json } from '../wire/json.ts'
import type { GetRequest } from '../wire/requests.ts'
import { rfc3339 } from '../wire/time.ts'
import { copyOf } from './copy.ts'
import { letterText, messageSuffix } from './letter.ts'
import type { Caller, Mail } from './mail.ts'
import { readable } from './may-read.ts'

/** @throws Refusal `unknown_message` */
export async function get(mail: Mail, caller: Caller, request: GetRequest): Promise<Json> {
  const message = readable(mail, caller, request.message_id)
  const copy = copyOf(mail, caller, message)
  if (copy && !request.peek && copy.closed === 0 && copy.opened === null)
    await mail.store.open(caller.account, caller.session, { ids: [message.id] })
  else if (copy && copy.notified === null) mail.store.notified(copy.box, [message.id])
  const now = mail.now()
  const suffix = `${messageSuffix(mail, caller, message, now)},"now":"${rfc3339(now)}"`
  return new Json(letterText(message.json, suffix))
}
