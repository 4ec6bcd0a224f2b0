// What KERN_PROCARGS2 holds: the number of arguments, the path, the arguments, the environment. sysctl(3).

const decoder = new TextDecoder()

export type Started = { argv: string[]; environment: string[] }

/** Null where the bytes are too few. An empty argument counts, so NULs are never skipped but behind the path. */
export function startedWith(bytes: Uint8Array): Started | null {
  if (bytes.length < 8) return null
  const count = new DataView(bytes.buffer, bytes.byteOffset).getInt32(0, true)
  const path = bytes.indexOf(0, 4)
  if (path < 0 || count < 0) return null
  // the path is filled up to a multiple of eight bytes
  let at = 4 + Math.ceil((path - 4 + 1) / 8) * 8
  const take = (): string | null => {
    if (at >= bytes.length) return null
    const nul = bytes.indexOf(0, at)
    const end = nul < 0 ? bytes.length : nul
    const word = decoder.decode(bytes.subarray(at, end))
    at = end + 1
    return word
  }
  const argv: string[] = []
  for (let i = 0; i < count; i++) {
    const word = take()
    if (word === null) break
    argv.push(word)
  }
  const environment: string[] = []
  for (let word = take(); word !== null && word !== ''; word = take()) environment.push(word)
  return { argv, environment }
}

/** The named variables; of one that is there twice the first counts, as in getenv(3). */
export function variables(environment: readonly string[], names: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {}
  for (const entry of environment) {
    const cut = entry.indexOf('=')
    const name = entry.slice(0, cut)
    if (cut > 0 && names.includes(name) && !Object.hasOwn(found, name)) found[name] = entry.slice(cut + 1)
  }
  return found
}
