// Values of IndexedDB as JSON text: stable across runtimes, unlike their own binary forms. What JSON cannot say is tagged with `$`.

/** Numbers of bytes: the crypto library stores ciphertext as arrays of them. Shorter ones are not worth it. */
const PACKED = 16

/** @throws Error for a value of a kind that the crypto library does not store */
export const toJson = (value: unknown): string => JSON.stringify(tag(value))
export const fromJson = (text: string): unknown => untag(JSON.parse(text))

function tag(value: unknown): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number')
    return Number.isFinite(value) && !Object.is(value, -0) ? value : { $n: Object.is(value, -0) ? '-0' : String(value) }
  if (value === undefined) return { $u: 1 }
  if (typeof value === 'bigint') return { $i: String(value) }
  if (value instanceof Uint8Array)
    return { $b: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64') }
  if (value instanceof ArrayBuffer) return { $a: Buffer.from(value).toString('base64') }
  if (value instanceof Date) return { $d: value.getTime() }
  if (Array.isArray(value)) return isBytes(value) ? { $B: Buffer.from(value).toString('base64') } : value.map(tag)
  if (value instanceof Map) return { $m: [...value].map(([key, one]) => [tag(key), tag(one)]) }
  if (value instanceof Set) return { $s: [...value].map(tag) }
  if (typeof value === 'object' && isPlain(value)) {
    const entries = Object.entries(value).map(([key, one]) => [key.startsWith('$') ? `$${key}` : key, tag(one)])
    return Object.fromEntries(entries)
  }
  throw new Error(`cannot keep ${Object.prototype.toString.call(value)}`)
}

const isPlain = (value: object): boolean => {
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

const isBytes = (list: readonly unknown[]): list is number[] =>
  list.length > PACKED && list.every((one) => typeof one === 'number' && Number.isInteger(one) && one >= 0 && one < 256)

function untag(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(untag)
  const entries = Object.entries(value)
  const [first] = entries
  if (first && entries.length === 1 && /^\$[^$]/.test(first[0])) return untagOne(first[0], first[1])
  return Object.fromEntries(entries.map(([key, one]) => [key.startsWith('$$') ? key.slice(1) : key, untag(one)]))
}

function untagOne(kind: string, value: unknown): unknown {
  const bytes = () => new Uint8Array(Buffer.from(String(value), 'base64'))
  const list = () => (Array.isArray(value) ? value.map(untag) : [])
  switch (kind) {
    case '$n':
      return Number(value)
    case '$u':
      return undefined
    case '$i':
      return BigInt(String(value))
    case '$b':
      return bytes()
    case '$B':
      return [...bytes()]
    case '$a':
      return bytes().buffer
    case '$d':
      return new Date(Number(value))
    case '$m':
      return new Map(list().filter(isPair))
    case '$s':
      return new Set(list())
    default:
      throw new Error(`unknown tag ${kind}`)
  }
}

const isPair = (value: unknown): value is [unknown, unknown] => Array.isArray(value) && value.length === 2
