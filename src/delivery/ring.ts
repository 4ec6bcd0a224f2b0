// One ring: a signed POST to loopback over a plain socket. No name is looked up, no proxy asked, no redirect followed.
import { createHmac } from 'node:crypto'
import { connect } from 'node:net'
import type { Target } from './target.ts'

export type Patience = { readonly connectMs: number; readonly totalMs: number }

/** `error` is for the operator: what went wrong in a few words, nothing of what the listener said beyond its status. */
export type Rung = { ok: true } | { ok: false; error: string }

/** Bytes of an answer that are read; a status that is not among them is none. */
const HEAD = 16_384
/** What a listener may still say after its status, so that a simple one is not cut off in the middle of its answer. */
const LINGER_MS = 200

/** `sha256=` and the HMAC-SHA-256 of the exact body, lower-case hex; the key is the text that was shown to the operator. */
export const signature = (key: string, body: string): string =>
  `sha256=${createHmac('sha256', key).update(body).digest('hex')}`

/**
 * Resolves once the listener has answered with a status, or could not within `patience`. Any 2xx is a success; a redirect
 * is a failure. Never rejects. `signal` ends it at shutdown.
 */
export function ring(
  target: Target,
  key: string,
  body: string,
  patience: Patience,
  signal: AbortSignal,
): Promise<Rung> {
  const { promise, resolve } = Promise.withResolvers<Rung>()
  const socket = connect({ host: '127.0.0.1', port: target.port, autoSelectFamily: false })
  const connecting = setTimeout(() => finish('no connection in time'), patience.connectMs)
  const total = setTimeout(() => finish('no answer in time'), patience.totalMs)
  let head = ''
  let read = 0
  let settled = false

  const finish = (error: string | null) => {
    settled = true
    clearTimeout(connecting)
    clearTimeout(total)
    signal.removeEventListener('abort', stop)
    if (error === null) setTimeout(() => socket.destroy(), LINGER_MS).unref()
    else socket.destroy()
    resolve(error === null ? { ok: true } : { ok: false, error })
  }
  const stop = () => finish('shutting down')

  socket.on('connect', () => {
    clearTimeout(connecting)
    socket.write(request(target, key, body))
  })
  socket.on('data', (bytes: Buffer) => {
    read += bytes.length
    if (settled) {
      if (read > HEAD) socket.destroy()
      return
    }
    head += bytes.toString('latin1', 0, HEAD + 1)
    const status = finalStatus(head)
    if (status === null && read <= HEAD) return
    if (status === null || status === 0) finish('no HTTP answer')
    else finish(status >= 200 && status < 300 ? null : `answered ${status}`)
  })
  socket.on('error', (error: NodeJS.ErrnoException) => finish(error.code ?? 'connection failed'))
  socket.on('close', () => finish('closed without an answer'))
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  return promise
}

function request(target: Target, key: string, body: string): string {
  return [
    `POST ${target.path} HTTP/1.1`,
    `Host: ${target.host}`,
    'User-Agent: mail4agent',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-M4A-Signature: ${signature(key, body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n')
}

/** Status of the final response in `head` (RFC 9110 15.2: any number of 1xx may come first); null: not there yet; 0: no HTTP. */
function finalStatus(head: string): number | null {
  for (let at = 0; ; ) {
    const line = head.indexOf('\r\n', at)
    if (line < 0) return null
    const status = Number(/^HTTP\/1\.[01] ([0-9]{3})(?: |$)/.exec(head.slice(at, line))?.[1] ?? 0)
    if (status < 100 || status > 199) return status
    const end = head.indexOf('\r\n\r\n', line)
    if (end < 0) return null
    at = end + 4
  }
}
