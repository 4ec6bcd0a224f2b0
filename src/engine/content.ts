// What a send says: checked against the limits that schemas cannot express, and hashed for its idempotency key.
import type { Reference } from '../wire/letter.ts'
import { LIMITS } from '../wire/limits.ts'
import { denied, malformed } from '../wire/refusal.ts'
import type { SendRequest } from '../wire/requests.ts'
import { checkBody, checkLine } from '../wire/text.ts'
import type { Caller } from './mail.ts'
import { spelling } from './recipients.ts'
import { type Parent, replySubject } from './reply.ts'

export type Said = {
  subject: string
  body: string
  correlation: string | null
  refs: readonly Reference[]
  onBehalfOf: string | null
}

/** @throws Refusal `too_large`, `malformed` by field, `permission_denied` for on_behalf_of */
export function contentOf(caller: Caller, request: SendRequest, parent: Parent | null): Said {
  const { body } = request
  const correlation = request.correlation ?? null
  const refs = request.refs ?? []
  const onBehalfOf = request.on_behalf_of ?? null
  const subject = request.subject ?? (parent ? replySubject(parent) : null)
  if (subject === null) throw malformed('subject', 'is missing; only a reply can do without')
  checkLine('subject', subject, LIMITS.subject)
  checkBody('body', body, LIMITS.body)
  if (correlation !== null) checkLine('correlation', correlation, LIMITS.correlation)
  for (const reference of refs) checkLine('refs', reference.locator, LIMITS.locator)
  if (onBehalfOf !== null) {
    if (!caller.account.can.behalf) throw denied('behalf')
    checkLine('on_behalf_of', onBehalfOf, LIMITS.label)
  }
  return { subject, body, correlation, refs, onBehalfOf }
}

/**
 * SHA-256 of everything that makes two sends the same; hex. Of the request alone: a retry must be known as one when its
 * recipient or the message that it answers is gone. Recipients count as they were written, in any order.
 * @throws Refusal `malformed` for a text that is no address
 */
export function contentHash(request: SendRequest): string {
  const to = request.to == null ? null : [...new Set([request.to].flat().map(spelling))].sort()
  const refs = (request.refs ?? []).map(({ kind, locator, digest }) => [kind, locator, digest ?? null])
  const parts = [
    to,
    request.subject ?? null,
    request.body,
    request.reply_to ?? null,
    request.correlation ?? null,
    refs,
    request.close ?? false,
    request.upsert_key ?? null,
    // only where it is said, so that the hash of a letter that starts nobody stays what it was
    ...(request.dispatch == null ? [] : [request.dispatch]),
  ]
  return new Bun.CryptoHasher('sha256').update(JSON.stringify(parts)).digest('hex')
}
