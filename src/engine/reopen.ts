// reopen: put closed messages back among what is not closed.
import type { ReopenAnswer } from '../wire/answers.ts'
import type { ReopenRequest } from '../wire/requests.ts'
import { rfc3339 } from '../wire/time.ts'
import { batch } from './batch.ts'
import type { Caller, Mail } from './mail.ts'

/** @throws Refusal `malformed`, `unknown_message`, `not_closed` */
export async function reopen(mail: Mail, caller: Caller, request: ReopenRequest): Promise<ReopenAnswer> {
  const { account, session } = caller
  const { results } = await batch(mail, caller, request, (ids) => mail.store.reopen(account, session, ids))
  return { results, unread: mail.store.unread(account.box, session.box), now: rfc3339(mail.now()) }
}
