// Is the write-ahead log damaged before its end? SQLite stops reading at the first frame that does not fit, and says nothing.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** https://sqlite.org/fileformat2.html section 4.1: two magic numbers, for the byte order of the checksums. */
const MAGIC = 0x377f0682
const HEADER = 32
const FRAME = 24
const LARGEST_PAGE = 65_536

type Sum = { a: number; b: number }

/**
 * Why the log at `path` cannot be relied on; null when it can, also when a crash has cut off what was being written. A commit is
 * on the disk before the next one begins, so only the last one may be in pieces: a frame that does not fit with another
 * transaction behind it was whole once, and its letters were acknowledged.
 */
export function tornLog(path: string): string | null {
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch {
    return null // there is none
  }
  try {
    return tornIn(fd, fstatSync(fd).size)
  } finally {
    closeSync(fd)
  }
}

function tornIn(fd: number, size: number): string | null {
  if (size <= HEADER) return null
  const head = read(fd, 0, HEADER)
  const magic = head.getUint32(0)
  const page = head.getUint32(8)
  const isLittle = magic === MAGIC
  const sum = { a: 0, b: 0 }
  add(sum, head, 0, 24, isLittle)
  const isWhole = (magic & ~1) === MAGIC && isPageSize(page) && fits(sum, head, 24)
  // the header is in one sector, which is written as a whole or not at all
  if (!isWhole) return 'its head is damaged'
  const salts = [head.getUint32(16), head.getUint32(20)] as const
  const length = FRAME + page
  const count = Math.floor((size - HEADER) / length)
  let torn: number | null = null
  let before: DataView = head
  for (let at = 0; at < count; at++) {
    const frame = read(fd, HEADER + at * length, length)
    const isOurs = frame.getUint32(8) === salts[0] && frame.getUint32(12) === salts[1]
    // frames of an earlier round of the log have other salts; those of a commit that failed lead on from nothing that is there
    if (torn !== null && isOurs && isCommit(before, salts) && follows(frame, before, page, isLittle))
      return `its frame ${torn + 1} is damaged, and later ones are there`
    before = frame
    if (torn !== null) continue
    sumUp(sum, frame, page, isLittle)
    if (!isOurs || !fits(sum, frame, 16)) torn = at
  }
  return null
}

const isCommit = (frame: DataView, [first, second]: readonly [number, number]): boolean =>
  frame.getUint32(8) === first && frame.getUint32(12) === second && frame.getUint32(4) !== 0

/** Was `frame` written behind `before`, whatever became of that one's page since? */
function follows(frame: DataView, before: DataView, page: number, isLittle: boolean): boolean {
  const sum = { a: before.getUint32(16), b: before.getUint32(20) }
  sumUp(sum, frame, page, isLittle)
  return fits(sum, frame, 16)
}

const isPageSize = (page: number): boolean => page >= 512 && page <= LARGEST_PAGE && (page & (page - 1)) === 0

function read(fd: number, position: number, length: number): DataView {
  const bytes = new Uint8Array(length)
  readSync(fd, bytes, 0, length, position)
  return new DataView(bytes.buffer)
}

function sumUp(sum: Sum, frame: DataView, page: number, isLittle: boolean): void {
  add(sum, frame, 0, 8, isLittle)
  add(sum, frame, FRAME, page, isLittle)
}

/** Section 4.2: over pairs of 32-bit words, each sum going into the other. */
function add(sum: Sum, view: DataView, from: number, length: number, isLittle: boolean): void {
  for (let at = from; at < from + length; at += 8) {
    sum.a = (sum.a + view.getUint32(at, isLittle) + sum.b) >>> 0
    sum.b = (sum.b + view.getUint32(at + 4, isLittle) + sum.a) >>> 0
  }
}

const fits = (sum: Sum, view: DataView, at: number): boolean =>
  view.getUint32(at) === sum.a && view.getUint32(at + 4) === sum.b
