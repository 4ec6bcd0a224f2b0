// dispatch_logs: what an attempt printed, a part at a time.
import type { DispatchLogsAnswer, DispatchLogsRequest } from '../../wire/dispatch.ts'
import { malformed } from '../../wire/refusal.ts'
import { rfc3339 } from '../../wire/time.ts'
import type { Caller, Mail } from '../mail.ts'
import { visibleDispatch } from './view.ts'

const BYTES = 65_536

/** Without `attempt` the newest one. @throws Refusal `unknown_dispatch`, `malformed` with field `attempt` */
export function dispatchLogs(mail: Mail, caller: Caller, request: DispatchLogsRequest): DispatchLogsAnswer {
  const { id } = visibleDispatch(mail, caller, request.id)
  const attempts = mail.store.dispatches.attempts(id)
  const number = request.attempt ?? attempts.at(-1)?.number ?? 0
  const attempt = attempts.find((one) => one.number === number)
  if (!attempt && request.attempt != null) throw malformed('attempt', `dispatch ${id} has ${attempts.length} attempts`)
  const stream = request.stream ?? 'out'
  const from = request.offset ?? 0
  const { text, offset, more } = attempt
    ? mail.runs.output(id, number, stream, from, request.limit ?? BYTES)
    : { text: '', offset: 0, more: false }
  const running = attempt !== undefined && attempt.ended === null
  return { id, attempt: number, stream, text, offset, has_more: more, running, now: rfc3339(mail.now()) }
}
