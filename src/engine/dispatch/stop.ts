// dispatch_stop: end a dispatch, by whoever asked for it or an operator. Its processes are ended, its dispatcher is told.

import type { DispatchStopAnswer, DispatchStopRequest } from '../../wire/dispatch.ts'
import { LIMITS } from '../../wire/limits.ts'
import { denied } from '../../wire/refusal.ts'
import { checkLine } from '../../wire/text.ts'
import { rfc3339 } from '../../wire/time.ts'
import type { Caller, Mail } from '../mail.ts'
import { dispatchView, visibleDispatch } from './view.ts'

/** What is done already stays as it is. @throws Refusal `unknown_dispatch`, `permission_denied`, `malformed` */
export async function dispatchStop(
  mail: Mail,
  caller: Caller,
  request: DispatchStopRequest,
): Promise<DispatchStopAnswer> {
  const row = visibleDispatch(mail, caller, request.id)
  if (row.by !== caller.account.id && !caller.account.can.operator) throw denied('operator')
  if (request.reason != null) checkLine('reason', request.reason, LIMITS.label)
  if (row.state !== 'done' && row.stop === null) {
    const why = request.reason ? `: ${request.reason}` : ''
    await mail.store.dispatches.change(row.id, { stop: `${caller.account.name} stopped it${why}` })
  }
  return { dispatch: dispatchView(mail, caller, visibleDispatch(mail, caller, row.id)), now: rfc3339(mail.now()) }
}
