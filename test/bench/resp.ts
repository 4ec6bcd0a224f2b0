// The Redis protocol (RESP 2) on a raw connection: commands as ready bytes, replies framed by their own lengths.
import type { Protocol } from './wire.ts'

export function command(...words: (string | number)[]): Buffer {
  const parts = words.map((word) => `$${Buffer.byteLength(String(word))}\r\n${word}\r\n`)
  return Buffer.from(`*${words.length}\r\n${parts.join('')}`)
}

export const RESP: Protocol = { frame: (bytes) => Math.max(0, replyEnd(bytes, 0)) }

/** Where the reply that starts at `at` ends, or -1. */
function replyEnd(bytes: Buffer, at: number): number {
  const line = bytes.indexOf('\r\n', at)
  if (line < 0) return -1
  const kind = bytes[at]
  if (kind !== 0x24 && kind !== 0x2a) return line + 2 // + - :
  const count = Number(bytes.toString('latin1', at + 1, line))
  if (kind === 0x24) {
    const end = line + 2 + (count < 0 ? 0 : count + 2)
    return end <= bytes.length ? end : -1
  }
  let end = line + 2
  for (let i = 0; i < count && end >= 0; i++) end = replyEnd(bytes, end)
  return end
}

/** A reply that is no error. */
export const accepted = (reply: Buffer): boolean => reply[0] !== 0x2d
