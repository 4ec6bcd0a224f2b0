// A release archive: a .tar.gz, or a .zip for Windows. Made the same, byte for byte, from the same files; and read again.
import { gunzipSync, gzipSync } from 'node:zlib'
import { type UnzipFileInfo, type Unzipped, unzipSync, zipSync } from 'fflate'

export type Entry = { name: string; bytes: Uint8Array; mode: number }

/** Year, month, day: no clock of the building machine gets into an archive. */
const MADE = [2000, 0, 1] as const
const BLOCK = 512
/** Bytes of an archive, and of what is in it; a few times what a release has. Little can be packed that unpacks to very much. */
export const LARGEST = 1_073_741_824

/** Where the gzip header names the system that wrote it, and the value for an unknown one: RFC 1952, 2.3.1. */
const GZIP_OS = { at: 9, unknown: 255 }

const sorted = (entries: readonly Entry[]): Entry[] => [...entries].sort((a, b) => (a.name < b.name ? -1 : 1))

export function tarGz(entries: readonly Entry[]): Uint8Array {
  const parts = sorted(entries).flatMap((entry) => {
    const padding = (BLOCK - (entry.bytes.length % BLOCK)) % BLOCK
    return [header(entry), entry.bytes, new Uint8Array(padding)]
  })
  const packed = gzipSync(Buffer.concat([...parts, new Uint8Array(2 * BLOCK)]))
  packed[GZIP_OS.at] = GZIP_OS.unknown
  return packed
}

/** One header of the ustar format: pax(1). */
function header({ name, bytes, mode }: Entry): Buffer {
  if (Buffer.byteLength(name) > 100) throw new RangeError(`${name} is too long for an archive`)
  const block = Buffer.alloc(BLOCK)
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0')
  const seconds = Date.UTC(...MADE) / 1_000
  block.write(name, 0)
  block.write(octal(mode, 7), 100)
  block.write(octal(0, 7), 108) // owner and group: root
  block.write(octal(0, 7), 116)
  block.write(octal(bytes.length, 11), 124)
  block.write(octal(seconds, 11), 136)
  block.write(' '.repeat(8), 148) // the checksum is made as if it were blank
  block.write('0', 156) // a file
  block.write('ustar\x0000', 257)
  block.write(
    `${octal(
      block.reduce((sum, byte) => sum + byte, 0),
      6,
    )}\0 `,
    148,
  )
  return block
}

export function zip(entries: readonly Entry[]): Uint8Array {
  const mtime = new Date(...MADE) // zip keeps local time without its zone: APPNOTE.TXT 4.4.6
  const files = sorted(entries).map(({ name, bytes, mode }) => {
    // the mode of a Unix file lies in the upper half of the attributes: APPNOTE.TXT 4.4.15
    return [name, [bytes, { level: 6, mtime, os: 3, attrs: (0o100000 | mode) << 16 }]] as const
  })
  return zipSync(Object.fromEntries(files.map(([name, [bytes, options]]) => [name, [bytes, options]])))
}

/** Is it an archive, by its first bytes? */
export const archiveKind = (bytes: Uint8Array): 'tar.gz' | 'zip' | null =>
  bytes[0] === 0x1f && bytes[1] === 0x8b
    ? 'tar.gz'
    : bytes[0] === 0x50 && bytes[1] === 0x4b && bytes[2] === 3 && bytes[3] === 4
      ? 'zip'
      : null

/**
 * The first file called `program`, in whatever folder of the archive it lies; null: there is none.
 * @throws the reader's error for an archive that is damaged or cut off
 */
export async function programIn(bytes: Uint8Array<ArrayBuffer>, program: string): Promise<Uint8Array | null> {
  const isIt = (name: string) => name === program || name.endsWith(`/${program}`)
  if (archiveKind(bytes) === 'zip') {
    const filter = ({ name, originalSize }: UnzipFileInfo): boolean => {
      if (isIt(name) && originalSize > LARGEST) throw new RangeError(`${name} has ${originalSize} bytes`)
      return isIt(name)
    }
    const found: Unzipped = unzipSync(bytes, { filter })
    return Object.values(found)[0] ?? null
  }
  // unpacked first, because only that checks the sum at the end
  for (const [name, file] of await new Bun.Archive(gunzipSync(bytes, { maxOutputLength: LARGEST })).files())
    if (isIt(name)) return file.bytes()
  return null
}
