// What a request must be before anybody asks who sent it: from this machine's own pages or programs, JSON, not too large.
import { LIMITS } from '../../wire/limits.ts'
import { malformed, Refusal, tooLarge } from '../../wire/refusal.ts'

const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::(\d{1,5}))?$/i
/** Keeps nothing from one call to the next: a decode without `stream` begins anew, also after one that failed. */
const strictly = new TextDecoder('utf-8', { fatal: true })
let lastGood = ''
const JSON_TYPE = /^application\/json\s*(?:;|$)/i

/**
 * Host names loopback, so that a rebound DNS name reaches nothing; Origin is absent or of this very port on loopback, so
 * that no web page of another origin calls with the reader's browser. A browser that sends no Origin with a plain GET says in
 * Sec-Fetch-Site (Fetch Metadata, 2.3) whose page asks: another one may lead here by a link, and load nothing from here.
 * @throws Refusal `bad_host`, `bad_origin`
 */
export function checkSource(request: Request): void {
  const sent = request.headers.get('host') ?? ''
  const origin = request.headers.get('origin')
  const site = request.headers.get('sec-fetch-site')
  // programs call with one host and nothing of a page, time after time
  if (origin === null && site === null && sent === lastGood) return
  const host = LOOPBACK.exec(sent)
  if (!host) throw new Refusal('bad_host', 'the Host header does not name loopback')
  lastGood = sent
  if ((site === 'cross-site' || site === 'same-site') && request.headers.get('sec-fetch-mode') !== 'navigate')
    throw new Refusal('bad_origin', 'a page of another origin asks')
  if (origin === null) return
  const page = origin.startsWith('http://') ? LOOPBACK.exec(origin.slice('http://'.length)) : null
  if (!page || (page[1] ?? '80') !== (host[1] ?? '80')) throw new Refusal('bad_origin', 'the Origin is another one')
}

/** Bytes of a body: 0 for none, null where it is chunked and says so only at its end. */
export type BodySize = number | null

/**
 * A body has to say that it is JSON: a web page cannot send that type without asking first. None at all is fine.
 * @throws Refusal `unsupported_media_type`, `too_large`
 */
export function checkBody(request: Request): BodySize {
  const size = sizeOf(request)
  if (size === 0) return size
  if (!JSON_TYPE.test(request.headers.get('content-type') ?? ''))
    throw new Refusal('unsupported_media_type', 'the body is not declared as application/json')
  if (size !== null && size > LIMITS.request) throw tooLarge('request', LIMITS.request, size)
  return size
}

/** RFC 9112 section 6.3: neither length nor chunks, no body. */
function sizeOf(request: Request): BodySize {
  const length = request.headers.get('content-length')
  if (length !== null) return Number(length)
  return request.body === null ? 0 : null
}

/**
 * The body as JSON, decoded strictly: text that is not UTF-8 must not be stored as something else. No body reads as {}.
 * @throws Refusal `malformed` with field `request`, `too_large`
 */
export async function readJson(request: Request, size: BodySize): Promise<unknown> {
  if (size === 0) return {}
  const bytes = await whole(size === null ? readUpTo(request, LIMITS.request) : request.bytes())
  if (bytes.length === 0) return {}
  let text: string
  try {
    text = strictly.decode(bytes)
  } catch {
    throw malformed('request', 'is not UTF-8')
  }
  try {
    return JSON.parse(text)
  } catch {
    throw malformed('request', 'is not JSON')
  }
}

/** `request` with a body that is no longer than the limit, for a reader that takes it whole. */
export async function bounded(request: Request, size: BodySize): Promise<Request> {
  if (size !== null) return request
  return new Request(request, { body: await whole(readUpTo(request, LIMITS.request)), signal: request.signal })
}

/** A client that goes before it has sent its body: no fault of ours, and nobody is there to be told. */
function whole<T>(body: Promise<T>): Promise<T> {
  return body.catch((error) => {
    throw error instanceof Refusal ? error : malformed('request', 'ended before it was whole')
  })
}

/** A chunked body says its size last: stop reading where it is too much. */
async function readUpTo(request: Request, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of request.body ?? []) {
    size += part.length
    if (size > limit) throw tooLarge('request', limit, size)
    parts.push(part)
  }
  return Buffer.concat(parts)
}
