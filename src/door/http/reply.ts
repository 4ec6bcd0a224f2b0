// How an answer leaves: JSON text, the request id, and never into a cache.
import { randomBytes } from 'node:crypto'
import { Json } from '../../wire/json.ts'

const run = randomBytes(8).toString('hex')
const WELL_FORMED = /^[\x21-\x7e]{1,128}$/
const ID = Symbol('request id')
type Named = Request & { [ID]?: string }
let minted = 0

/** The caller's X-Request-Id where it is printable ASCII of at most 128 bytes, else one of ours; the same for each call. */
export function requestId(request: Named): string {
  const known = request[ID]
  if (known) return known
  const sent = request.headers.get('x-request-id')
  const id = sent !== null && WELL_FORMED.test(sent) ? sent : `${run}-${(++minted).toString(16)}`
  request[ID] = id
  return id
}

/** The headers of every answer, over those given. */
export const headers = (request: Request, more: Record<string, string> = {}): Record<string, string> => ({
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-request-id': requestId(request),
  ...more,
})

/** `answer` as JSON; ready text is sent as it is. */
export function reply(request: Request, answer: object | Json, status = 200, more?: Record<string, string>): Response {
  const text = answer instanceof Json ? answer.text : JSON.stringify(answer)
  return new Response(text, { status, headers: headers(request, more) })
}
