// HTTP/1.1 on a raw connection: requests as ready bytes, replies framed by their Content-Length.
import type { Protocol } from './wire.ts'

export function post(path: string, token: string, body: unknown, more: readonly string[] = []): Buffer {
  const text = JSON.stringify(body)
  return Buffer.from(
    [
      `POST ${path} HTTP/1.1`,
      'Host: 127.0.0.1',
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      ...more,
      `Content-Length: ${Buffer.byteLength(text)}`,
      '',
      text,
    ].join('\r\n'),
  )
}

export const get = (path: string): Buffer => Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`)

const HEAD_END = Buffer.from('\r\n\r\n')
const LENGTH = Buffer.from('ontent-Length: ')

/** The body's length as the head says it: as cheap as reading one of Redis, for every server that writes the usual name. */
function lengthIn(bytes: Buffer, end: number): number {
  const at = bytes.indexOf(LENGTH)
  if (at >= 0 && at < end) {
    let length = 0
    for (let i = at + LENGTH.length; i < end; i++) {
      const digit = (bytes[i] ?? 0) - 48
      if (digit < 0 || digit > 9) break
      length = length * 10 + digit
    }
    return length
  }
  const length = /content-length: ([0-9]+)/i.exec(bytes.toString('latin1', 0, end))?.[1]
  if (length === undefined) throw new Error(`a reply without a length: ${bytes.toString('latin1', 0, end)}`)
  return Number(length)
}

export const HTTP: Protocol = {
  frame(bytes) {
    const end = bytes.indexOf(HEAD_END)
    if (end < 0) return 0
    const whole = end + 4 + lengthIn(bytes, end)
    return bytes.length < whole ? 0 : whole
  },
}

const OK = Buffer.from('HTTP/1.1 200 OK')

/** Status 200, and a body that holds `proof`. */
export function holds(proof: string): (reply: Buffer) => boolean {
  const text = Buffer.from(proof)
  return (reply) => reply.subarray(0, OK.length).equals(OK) && reply.includes(text)
}

/** The JSON body of a reply; throws when its status is not 200. */
export function body<T>(reply: Buffer): T {
  const end = reply.indexOf('\r\n\r\n')
  if (!reply.subarray(0, OK.length).equals(OK)) throw new Error(`refused: ${reply.toString()}`)
  return JSON.parse(reply.toString('utf8', end + 4))
}
