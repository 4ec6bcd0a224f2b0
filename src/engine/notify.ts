// notify: desktop notifications of a person, who may try them, switch them, and ask how they fare.
import type { NotifyAnswer } from '../wire/answers.ts'
import { Refusal } from '../wire/refusal.ts'
import type { NotifyRequest } from '../wire/requests.ts'
import { rfc3339, rfc3339OrNull } from '../wire/time.ts'
import type { Caller, Mail } from './mail.ts'

/** Their state is told to anybody. @throws Refusal `permission_denied` for an agent, `not_shown` for a test that fails */
export async function notify(mail: Mail, { account }: Caller, request: NotifyRequest): Promise<NotifyAnswer> {
  if (account.kind !== 'person' && request.do !== 'status')
    throw new Refusal(
      'permission_denied',
      `${account.name} is no person, so nothing is shown for it`,
      {},
      'act as a person: --as <account>; agents have hooks and doorbells',
    )
  if (request.do === 'test') await mail.desktop.test(account)
  else if (request.do !== 'status') await mail.desktop.turn(account, request.do === 'on')
  const { on, through, waiting, shown, failure, failedAt } = mail.desktop.state(account)
  return {
    account: account.name,
    on,
    through,
    waiting,
    shown_at: rfc3339OrNull(shown),
    failure,
    failure_at: rfc3339OrNull(failedAt),
    now: rfc3339(mail.now()),
  }
}
