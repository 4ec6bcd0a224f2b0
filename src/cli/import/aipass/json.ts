// A JSON file of an old mailbox: read whole, or told why not.
import { lstatSync, readFileSync } from 'node:fs'
import type { Report } from '../report.ts'

/** Larger than any mailbox; what is larger is something else. */
const LARGEST = 64 * 1_048_576

/** Undefined where it cannot be read; the report has the reason then. Nothing is written or locked. */
export function readJson(path: string, report: Report): unknown {
  try {
    const { size } = lstatSync(path)
    if (size > LARGEST) throw new Error(`is ${size} bytes long, at most ${LARGEST} are read`)
    const bytes = readFileSync(path)
    if (bytes.length === 0) throw new Error('is empty')
    return JSON.parse(textOf(bytes))
  } catch (error) {
    report.problem(path, error instanceof SyntaxError ? `is no JSON (${error.message.split('\n')[0]})` : error)
    return undefined
  }
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new Error('is no UTF-8')
  }
}

export type Fields = Readonly<Record<string, unknown>>

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A text that says something, or null. */
export const textIn = (fields: Fields, name: string): string | null => {
  const value = fields[name]
  return typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : null
}
