// The lines of a file, as bytes come: numbered, each at most so long, and each told when it is no text.
import { createReadStream } from 'node:fs'

export type FileLine = { number: number; text: string } | { number: number; fault: string }

/** The largest letter there can be, with ten thousand copies, is below it. */
const LONGEST = 8 * 1_048_576
const LF = 10

/** Empty lines are passed over. Needs no more memory than its longest line. */
export async function* linesOf(path: string): AsyncGenerator<FileLine> {
  let parts: Uint8Array[] = []
  let size = 0
  let number = 0
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const finish = (): FileLine | null => {
    number++
    const long = size > LONGEST
    const bytes = Buffer.concat(parts)
    parts = []
    size = 0
    if (long) return { number, fault: `is longer than ${LONGEST} bytes` }
    try {
      const text = decoder.decode(bytes)
      return text.trim() === '' ? null : { number, text }
    } catch {
      return { number, fault: 'is no UTF-8' }
    }
  }
  for await (const chunk of createReadStream(path, { highWaterMark: 1_048_576 }) as AsyncIterable<Uint8Array>) {
    let from = 0
    for (let at = chunk.indexOf(LF); at >= 0; at = chunk.indexOf(LF, from)) {
      take(chunk.subarray(from, at))
      const line = finish()
      if (line) yield line
      from = at + 1
    }
    take(chunk.subarray(from))
  }
  const last = size > 0 ? finish() : null
  if (last) yield last

  /** Of a line that is too long no more is kept. */
  function take(bytes: Uint8Array): void {
    size += bytes.length
    if (size <= LONGEST && bytes.length > 0) parts.push(bytes)
  }
}
