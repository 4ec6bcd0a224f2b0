// claim: take open mail of the account for a while, so that sibling sessions leave it alone; or give it back.
import type { ClaimAnswer } from '../wire/answers.ts'
import type { ClaimRequest } from '../wire/requests.ts'
import { rfc3339 } from '../wire/time.ts'
import { batch } from './batch.ts'
import type { Caller, Mail } from './mail.ts'

const DEFAULT_SECS = 600

/** `claim_secs` 0 gives back. @throws Refusal `malformed`, `unknown_message`, `claimed`, `not_claimable` */
export async function claim(mail: Mail, caller: Caller, request: ClaimRequest): Promise<ClaimAnswer> {
  const { account, session } = caller
  const seconds = request.claim_secs ?? DEFAULT_SECS
  const until = seconds === 0 ? 0 : mail.now() + seconds * 1000
  const { results } = await batch(mail, caller, request, (ids) => mail.store.claim(account, session, ids, until))
  return {
    results,
    claimed_until: until === 0 ? null : rfc3339(until),
    unread: mail.store.unread(account.box, session.box),
    now: rfc3339(mail.now()),
  }
}
