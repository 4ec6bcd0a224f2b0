// HTTP to a client's own server on this machine: the literal loopback address, no redirect, no proxy, a bounded answer.
import { request } from 'node:http'

export type Answered = { status: number; body: unknown }

const LONGEST = 1_048_576

/** `path` begins with a slash. Rejects where nobody answers; the body is null where it is no JSON. */
export function askLoopback(
  port: number,
  method: 'GET' | 'POST',
  path: string,
  headers: Readonly<Record<string, string>>,
  body: object | null,
  signal: AbortSignal,
): Promise<Answered> {
  const text = body === null ? null : JSON.stringify(body)
  const { promise, resolve, reject } = Promise.withResolvers<Answered>()
  const sent = request(
    {
      host: '127.0.0.1',
      port,
      method,
      path,
      agent: false,
      signal,
      headers: {
        ...headers,
        ...(text === null ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
      },
    },
    (response) => {
      const parts: Buffer[] = []
      let size = 0
      response.on('data', (part: Buffer) => {
        size += part.length
        if (size <= LONGEST) parts.push(part)
        else response.destroy()
      })
      response.on('error', reject)
      response.on('close', () => resolve({ status: response.statusCode ?? 0, body: parsed(Buffer.concat(parts)) }))
    },
  )
  sent.on('error', reject)
  sent.end(text ?? undefined)
  return promise
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return null
  }
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
