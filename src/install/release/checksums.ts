// SHA256SUMS as sha256sum(1) writes and reads it.
import { createHash } from 'node:crypto'

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** `sums`: name of a file → SHA-256, hex. */
export const sumsText = (sums: ReadonlyMap<string, string>): string =>
  [...sums]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, sum]) => `${sum}  ${name}\n`)
    .join('')

/** The sum of the file called `name`; null where the list has none. */
export function sumIn(text: string, name: string): string | null {
  for (const line of text.split(/\r?\n/)) {
    const [, sum = '', file] = /^([0-9a-f]{64}) [ *](.+)$/i.exec(line) ?? []
    if (file === name) return sum.toLowerCase()
  }
  return null
}
