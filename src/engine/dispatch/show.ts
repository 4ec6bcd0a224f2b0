// dispatch_show: one dispatch with each of its attempts: how it was started, what it ended with, the evidence.
import type { DispatchShowAnswer, DispatchShowRequest } from '../../wire/dispatch.ts'
import { rfc3339 } from '../../wire/time.ts'
import type { Caller, Mail } from '../mail.ts'
import { attemptView, dispatchView, visibleDispatch } from './view.ts'

/** @throws Refusal `unknown_dispatch` */
export function dispatchShow(mail: Mail, caller: Caller, { id }: DispatchShowRequest): DispatchShowAnswer {
  const row = visibleDispatch(mail, caller, id)
  return {
    dispatch: dispatchView(mail, caller, row),
    attempts: mail.store.dispatches.attempts(id).map(attemptView),
    now: rfc3339(mail.now()),
  }
}
