// Between node:http and the web's Request and Response: for the Unix socket, whose app is the one of the TCP door.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { LIMITS } from '../wire/limits.ts'
import { ABSURD } from './listen.ts'

/** The request with its body read; its signal aborts when the client leaves before it has the whole answer. */
export async function receive(incoming: IncomingMessage, outgoing: ServerResponse): Promise<Request> {
  const gone = new AbortController()
  outgoing.on('close', () => {
    if (!outgoing.writableFinished) gone.abort()
  })
  const headers = new Headers()
  for (let at = 0; at + 1 < incoming.rawHeaders.length; at += 2)
    headers.append(incoming.rawHeaders[at] ?? '', incoming.rawHeaders[at + 1] ?? '')
  const coding = incoming.headers['transfer-encoding']
  // RFC 9112 section 6.1: a coding that we do not undo; node:http only looks whether the last one is chunked
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') throw new Error(`transfer coding ${coding}`)
  const { parts, size } = await read(incoming)
  headers.delete('transfer-encoding')
  headers.set('content-length', String(size))
  const method = incoming.method ?? 'GET'
  const body = size === 0 || size > LIMITS.request ? null : Buffer.concat(parts)
  return new Request(`http://localhost${pathOf(incoming)}`, { method, headers, body, signal: gone.signal })
}

/** RFC 9112 section 3.2: a path, or a whole URL, or for OPTIONS a star. */
function pathOf({ url = '/' }: IncomingMessage): string {
  if (url.startsWith('/')) return url
  const { pathname, search } = URL.parse(url) ?? { pathname: '/', search: '' }
  return pathname + search
}

/**
 * The body. Of one over the limit nothing is kept, and its size is what was declared or seen so far; the rest is read and
 * dropped, so that the client gets to read the refusal.
 */
function read(incoming: IncomingMessage): Promise<{ parts: Uint8Array[]; size: number }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ parts: Uint8Array[]; size: number }>()
  const parts: Uint8Array[] = []
  const declared = Number(incoming.headers['content-length'] ?? 0)
  let size = 0
  if (declared > LIMITS.request) resolve({ parts, size: declared })
  incoming.on('data', (part: Uint8Array) => {
    size += part.length
    if (size <= LIMITS.request) parts.push(part)
    else if (size < ABSURD) resolve({ parts: [], size })
    else incoming.destroy()
  })
  incoming.on('end', () => resolve({ parts, size }))
  incoming.on('error', reject)
  incoming.on('close', () => reject(new Error('the client left')))
  return promise
}

/** Writes `response`: whole where it is JSON, piece by piece where it is a stream, no faster than the client reads. */
export async function respond(response: Response, outgoing: ServerResponse): Promise<void> {
  const streamed = response.headers.get('content-type') === 'text/event-stream'
  const whole = streamed ? null : await response.bytes()
  if (whole) response.headers.set('content-length', String(whole.length))
  outgoing.writeHead(response.status, [...response.headers].flat())
  if (whole) {
    outgoing.end(whole)
    return
  }
  outgoing.flushHeaders()
  for await (const piece of response.body ?? []) if (!outgoing.write(piece)) await drained(outgoing)
  outgoing.end()
}

const drained = (outgoing: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    outgoing.once('drain', resolve)
    outgoing.once('close', resolve)
  })
