// stand_by: a door of a running client waits for the text that is to start a turn.
import type { StandByAnswer, StandByRequest } from '../wire/wake.ts'
import type { Caller, Mail, Patience } from './mail.ts'

const NEVER = new AbortController().signal

/** Held for at most what the door allows; a waiter asks again. */
export function standBy(
  mail: Mail,
  caller: Caller,
  request: StandByRequest,
  patience?: Patience,
): Promise<StandByAnswer> {
  const seconds = Math.min(request.wait_secs, patience?.capSeconds ?? 0)
  return mail.wakes.standBy(caller, request, seconds * 1_000, patience?.signal ?? NEVER)
}
