// Textual loopback addresses as the bytes the kernel compares.

/** 4 bytes for IPv4 (an IPv4-mapped IPv6 address is one: RFC 4291 §2.5.5.2), 16 for IPv6. */
export type AddressBytes = Uint8Array

const known = new Map<string, AddressBytes | null>()

/** Null for what is not an address. Remembers the few texts that one machine uses. */
export function addressBytes(text: string): AddressBytes | null {
  const hit = known.get(text)
  if (hit !== undefined) return hit
  if (known.size >= 256) known.clear()
  const bytes = parse(text)
  known.set(text, bytes)
  return bytes
}

function parse(text: string): AddressBytes | null {
  if (!text.includes(':')) return parseV4(text)
  const mapped = /^(?:0*:){2,5}ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(text)
  if (mapped?.[1]) return parseV4(mapped[1])
  const v6 = parseV6(text)
  if (v6 === null) return null
  const isMapped = v6.subarray(0, 10).every((byte) => byte === 0) && v6[10] === 255 && v6[11] === 255
  return isMapped ? v6.slice(12) : v6
}

function parseV4(text: string): AddressBytes | null {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256)) return null
  return Uint8Array.from(parts, Number)
}

function parseV6(text: string): AddressBytes | null {
  const halves = text.split('::')
  if (halves.length > 2) return null
  const groups = halves.map((half) => (half === '' ? [] : half.split(':')))
  const head = groups[0] ?? []
  const tail = groups[1] ?? []
  const missing = 8 - head.length - tail.length
  if (halves.length === 2 ? missing < 1 : missing !== 0) return null
  const all = [...head, ...Array<string>(missing).fill('0'), ...tail]
  if (!all.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return null
  return Uint8Array.from(all.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]))
}
