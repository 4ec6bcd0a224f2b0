// Bytes and JSON made odd: flips, cuts, repeats, splices, values at the edges.
import type { Random } from '../support/random.ts'

const EDGES = [
  0, 1, 7, 8, 9, 10, 13, 32, 34, 39, 40, 41, 44, 45, 46, 47, 58, 59, 91, 92, 93, 123, 125, 127, 128, 192, 255,
]
const WORDS = [
  '',
  '"',
  '\\',
  '\\u0000',
  '\\ud800',
  '\0',
  '\r\n',
  '\n\n',
  '[[',
  ']]',
  '{',
  '}',
  '#',
  "'''",
  '"""',
  '=',
  '[a.b]',
  '-',
  '1e999',
  '-1',
  '99999999999999999999',
  'NaN',
  'null',
  'true',
  '__proto__',
  'constructor',
  '../',
  '%00',
  '\u202e',
  '\ufeff',
  'ß',
  '🦊',
  ') R 1 (',
  '@a:b',
  '#room',
  'a/s-',
  '@desk',
  '*',
  ' AND ',
  'NEAR(',
  '^',
  '1970-01-01T00:00:00Z',
  '2026-13-45',
  '9007199254740993',
  'x'.repeat(600),
]
const VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  2 ** 53,
  -(2 ** 31),
  1e308,
  '',
  ' ',
  '\0',
  '\ud800',
  'x'.repeat(5_000),
  [],
  {},
  [[]],
  [null],
  { a: {} },
  '__proto__',
  '1970-01-01T00:00:00.000Z',
  ['a', 1],
  { kind: 'room', room: 'r' },
  '#r',
  'm4a_000000000001abcdefabcdef',
]

/** One to eight changes of `bytes`; `other` is what pieces are taken from. */
export function mutate(random: Random, bytes: Buffer, other: Buffer): Buffer {
  let now: Buffer<ArrayBufferLike> = Buffer.from(bytes)
  for (let left = 1 + random.below(8); left > 0; left--) now = once(random, now, other)
  return now.subarray(0, 65_536)
}

function once(random: Random, bytes: Buffer, other: Buffer): Buffer<ArrayBufferLike> {
  const at = random.below(bytes.length + 1)
  const to = Math.min(bytes.length, at + 1 + random.below(random.pick([4, 16, 200])))
  const with_ = (piece: Uint8Array, end = at) => Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(end)])
  const changed = (value: (old: number) => number) => {
    if (at < bytes.length) bytes[at] = value(bytes[at] ?? 0)
    return bytes
  }
  switch (random.below(10)) {
    case 0:
      return changed((old) => old ^ (1 << random.below(8)))
    case 1:
      return changed(() => random.pick(EDGES))
    case 2:
      return changed(() => random.below(256))
    case 3:
      return with_(Buffer.alloc(0), to)
    case 4:
      return with_(bytes.subarray(at, to))
    case 5:
      return bytes.subarray(0, at)
    case 6: {
      const from = random.below(other.length + 1)
      return with_(other.subarray(from, from + random.below(64)), to)
    }
    case 7:
      return with_(random.bytes(1 + random.below(8)), random.below(2) ? to : at)
    case 8:
      // a 32-bit number where one may be
      if (at + 4 <= bytes.length) bytes.writeUInt32LE(random.pick([0, 1, 8, 255, 65_535, 0x7fffffff, 0xffffffff]), at)
      return bytes
    default:
      return with_(Buffer.from(random.pick(WORDS)), random.below(2) ? to : at)
  }
}

/** A JSON value of which a few places are other values now, are missing, or are there under another name. */
export function mutateJson(random: Random, value: unknown): unknown {
  let now = structuredClone(value)
  for (let left = 1 + random.below(4); left > 0; left--) now = place(random, now)
  return now
}

function place(random: Random, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || random.below(6) === 0) return random.pick(VALUES)
  if (Array.isArray(value)) {
    const at = random.below(value.length + 1)
    if (at === value.length) return [...value, random.pick(VALUES)]
    return random.below(4) === 0 ? value.toSpliced(at, 1) : value.with(at, place(random, value[at]))
  }
  const entries = Object.entries(value)
  const at = random.below(entries.length + 1)
  const entry = entries[at]
  if (entry === undefined) return Object.fromEntries([...entries, [random.pick(WORDS), random.pick(VALUES)]])
  const [name, held] = entry
  const other = random.below(8)
  if (other === 0) return Object.fromEntries(entries.toSpliced(at, 1))
  return Object.fromEntries(entries.with(at, other === 1 ? [random.pick(WORDS), held] : [name, place(random, held)]))
}
