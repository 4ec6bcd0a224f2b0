// What a text may hold: byte limits, control characters, well-formed Unicode. Refused by field, never cut.
import { malformed, tooLarge } from './refusal.ts'

const CONTROL = /\p{Cc}/u
const NUL = /\0/

/** UTF-8 length of `text` in bytes. */
export const bytes = (text: string): number => Buffer.byteLength(text)

/**
 * One line of text: no control characters, well-formed, at most `limit` bytes.
 * @throws Refusal `too_large` or `malformed` naming `field`
 */
export function checkLine(field: string, text: string, limit: number): void {
  checkSize(field, text, limit)
  if (CONTROL.test(text)) throw malformed(field, 'has a control character')
}

/** A body: any well-formed text with line breaks of any kind, but no NUL. */
export function checkBody(field: string, text: string, limit: number): void {
  checkSize(field, text, limit)
  if (NUL.test(text)) throw malformed(field, 'has a NUL character')
}

function checkSize(field: string, text: string, limit: number): void {
  const size = bytes(text)
  if (size > limit) throw tooLarge(field, limit, size)
  if (!text.isWellFormed()) throw malformed(field, 'is not well-formed Unicode')
}

/** `text` cut to at most `limit` bytes at a character border; null for null. For facts read from a process, never for mail. */
export function cutFact(text: string | null, limit: number): string | null {
  if (text === null) return null
  const clean = text.toWellFormed().replaceAll(/\p{Cc}/gu, ' ')
  if (bytes(clean) <= limit) return clean
  let end = Math.min(clean.length, limit)
  while (bytes(clean.slice(0, end)) > limit || /[\uD800-\uDBFF]$/.test(clean.slice(0, end))) end--
  return clean.slice(0, end)
}
