// Any error to its answer: the refusal as JSON with its status and the headers that HTTP wants beside it.
import { isDamage } from '../../store/disk.ts'
import { Refusal } from '../../wire/refusal.ts'
import type { Log } from '../log.ts'
import { reply, requestId } from './reply.ts'

/** The part of a door that hears of faults. */
type Where = { readonly log: Log; readonly mail: { readonly store: { damaged(reason: string): void } } }

/** What is no refusal is a fault of ours, or of the disk: the log has it, the caller only the request id. */
export function refusalOf(error: unknown, request: Request, { log, mail }: Where): Refusal {
  if (error instanceof Refusal) return error
  const id = requestId(request)
  const stack = error instanceof Error ? error.stack : undefined
  log.error('internal fault', { request: id, error: error instanceof Error ? error.message : String(error), stack })
  if (error instanceof Error && isDamage(error.message)) {
    mail.store.damaged(error.message)
    return new Refusal('damaged_store', `the store is damaged: ${error.message}`, { request_id: id })
  }
  return new Refusal('internal', 'the mailbox failed at this request', { request_id: id })
}

/** The one place where an HTTP refusal is made, whatever was thrown. */
export function refuse(error: unknown, request: Request, where: Where): Response {
  const refusal = refusalOf(error, request, where)
  return reply(request, refusal, refusal.status, extraHeaders(refusal, request))
}

function extraHeaders({ kind, status, facts }: Refusal, request: Request): Record<string, string> {
  // RFC 6750 section 3; no resource_metadata: the mailbox is no OAuth resource, and naming one starts a login flow
  if (status === 401) {
    const invalid = request.headers.has('authorization') ? ', error="invalid_token"' : ''
    return { 'www-authenticate': `Bearer realm="mail4agent"${invalid}` }
  }
  if (kind === 'method_not_allowed' && typeof facts.allow === 'string') return { allow: facts.allow }
  if (status !== 429 && status !== 503) return {}
  const close = facts.connection === 'closed' ? { connection: 'close' } : {}
  return { 'retry-after': String(retrySeconds(facts.retry_after_ms)), ...close }
}

/** RFC 9110 10.2.3 knows whole seconds only. */
const retrySeconds = (ms: unknown): number => (typeof ms === 'number' ? Math.max(1, Math.ceil(ms / 1000)) : 1)
