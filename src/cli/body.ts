// The body of a letter, byte for byte: from an argument, from standard input, or from a file.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { LIMITS } from '../wire/limits.ts'
import { malformed, tooLarge } from '../wire/refusal.ts'
import { systemRefusal } from './given-path.ts'
import type { Io } from './io.ts'
import { usage } from './usage.ts'

/** Nothing is trimmed, added or repaired: a byte order mark and the last line break are part of the body. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * `word` is the body itself, or `-` for standard input; `file` a path to read instead.
 * @throws Refusal `usage` when there is none, an empty one or two, `malformed` when it is not UTF-8, `too_large`
 */
export async function readBody(word: string | undefined, file: string | undefined, io: Io): Promise<string> {
  const body = await bodyOf(word, file, io)
  if (body === '') throw usage('the body is empty', 'an empty letter says nothing; what was to be read had no bytes')
  return body
}

async function bodyOf(word: string | undefined, file: string | undefined, io: Io): Promise<string> {
  if (word !== undefined && file !== undefined) throw usage('the body is given twice: as a word and with --file')
  if (file !== undefined) return decode(readFile(resolve(io.cwd, file)))
  if (word === undefined)
    throw usage('the body is missing', 'give it as the last word, as - for standard input, or with --file')
  return word === '-' ? decode(await io.input()) : word
}

function readFile(path: string): Uint8Array {
  try {
    return readFileSync(path)
  } catch (error) {
    throw systemRefusal(error, path, 'name another file') ?? usage(`the file ${JSON.stringify(path)} cannot be read`)
  }
}

function decode(bytes: Uint8Array): string {
  if (bytes.length > LIMITS.body) throw tooLarge('body', LIMITS.body, bytes.length)
  try {
    return decoder.decode(bytes)
  } catch {
    throw malformed('body', 'is not UTF-8')
  }
}
