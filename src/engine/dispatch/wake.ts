// dispatch_wake: have an agent started without a letter, to look at its mail.
import type { DispatchWakeAnswer, DispatchWakeRequest } from '../../wire/dispatch.ts'
import { rfc3339 } from '../../wire/time.ts'
import type { Caller, Mail } from '../mail.ts'
import { visibleAccount } from '../visible.ts'
import { admit } from './admit.ts'
import { dispatchedView } from './view.ts'

/** @throws Refusal `unknown_participant`, and those of `admit` */
export async function dispatchWake(
  mail: Mail,
  caller: Caller,
  request: DispatchWakeRequest,
): Promise<DispatchWakeAnswer> {
  const to = visibleAccount(mail, caller, request.target)
  const { row, release } = admit(mail, caller, to, { fresh: request.fresh ?? false, hop: 0 })
  try {
    const queued = await mail.store.dispatches.queue(row)
    if (!queued) throw new Error('a dispatch without a letter was there already')
    return { dispatch: dispatchedView(mail, queued), now: rfc3339(mail.now()) }
  } finally {
    release()
  }
}
