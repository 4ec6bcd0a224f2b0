// status: what this session says about itself. The whole group is replaced; what is left out is cleared.
import type { StatusAnswer } from '../wire/answers.ts'
import { LIMITS } from '../wire/limits.ts'
import type { StatusRequest } from '../wire/requests.ts'
import { checkLine } from '../wire/text.ts'
import { rfc3339 } from '../wire/time.ts'
import type { Caller, Mail } from './mail.ts'

/** @throws Refusal `too_large`, `malformed` by field */
export async function status(mail: Mail, { session }: Caller, request: StatusRequest): Promise<StatusAnswer> {
  const declared = {
    working_on: request.working_on ?? null,
    role: request.role ?? null,
    parent: request.parent ?? null,
  }
  for (const [field, value] of Object.entries(declared)) if (value !== null) checkLine(field, value, LIMITS.fact)
  await mail.store.declare(session, declared)
  const { attested, corroborated } = session
  return { card: { attested, corroborated, declared }, now: rfc3339(mail.now()) }
}
