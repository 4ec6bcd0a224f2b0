// The structures that Windows fills in, as pure functions over their bytes. 64-bit layouts: the same on x64 and arm64.

const decoder = new TextDecoder('utf-16le')

export const utf16 = (bytes: Uint8Array, at: number, size: number): string =>
  decoder.decode(bytes.subarray(at, at + size))

/** UNICODE_STRING: its length in bytes, and the address of its text in the process that it is of. */
export const unicodeString = (view: DataView, at: number): { size: number; address: bigint } => ({
  size: view.getUint16(at, true),
  address: view.getBigUint64(at + 8, true),
})

/** PROCESS_BASIC_INFORMATION, 48 bytes: NtQueryInformationProcess class 0. */
export const basicInformation = (view: DataView): { peb: bigint; pid: number; ppid: number } => ({
  peb: view.getBigUint64(8, true),
  pid: Number(view.getBigUint64(32, true)),
  ppid: Number(view.getBigUint64(40, true)),
})

/** Where PEB and RTL_USER_PROCESS_PARAMETERS have what we read. */
export const PEB = { parameters: 0x20 } as const
export const PARAMETERS = {
  size: 0x400,
  currentFolder: 0x38,
  commandLine: 0x70,
  environment: 0x80,
  environmentSize: 0x3f0,
} as const

/**
 * SYSTEM_TIMEOFDAY_INFORMATION, 48 bytes: NtQuerySystemInformation class 3. A set clock moves the boot time and the bias
 * by the same amount, so that their difference stays while the system runs.
 */
export const bootTime = (view: DataView): string =>
  String(view.getBigInt64(0, true) - BigInt.asIntN(64, view.getBigUint64(32, true)))

const FILETIME_EPOCH_MS = 11_644_473_600_000

/** FILETIME, 100 ns since 1601, as milliseconds since 1970. */
export const unixMs = (filetime: bigint): number => Number(filetime / 10_000n) - FILETIME_EPOCH_MS

/** The SID at `at` as text such as `S-1-5-21-…-1001`; null where the bytes end too early. */
export function sidText(bytes: Uint8Array, at: number): string | null {
  const count = bytes[at + 1] ?? 0
  if (at < 0 || at + 8 + 4 * count > bytes.length || count > 15) return null
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  // the authority is big endian, the numbers after it are little endian
  const authority = view.getUint16(at + 2) * 2 ** 32 + view.getUint32(at + 4)
  const numbers = Array.from({ length: count }, (_, i) => view.getUint32(at + 8 + 4 * i, true))
  return ['S', bytes[at], authority, ...numbers].join('-')
}

/** The last number of a SID: the user within its machine or domain. */
export const relativeId = (sid: string): number => Number(sid.slice(sid.lastIndexOf('-') + 1))

/** The variables of an environment block whose names are asked for; Windows compares names without case. */
export function variables(block: Uint8Array, names: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {}
  for (const entry of utf16(block, 0, block.length & ~1).split('\0')) {
    if (entry === '') break // the empty one ends the block
    const cut = entry.indexOf('=', 1) // `=C:=C:\folder` is the current folder of a drive
    const name = names.find((wanted) => wanted.toUpperCase() === entry.slice(0, cut).toUpperCase())
    if (cut > 0 && name !== undefined && !Object.hasOwn(found, name)) found[name] = entry.slice(cut + 1)
  }
  return found
}
