// How many descriptors we may have, and what share of them attestation takes: getrlimit(2), proc_pid_limits(5).
import { cstring, libc } from './libc.ts'
import { openProcess, readFile } from './procfs.ts'

const LIMITS_SIZE = 64 * 1024
/** What is taken for the limit where it cannot be read: the usual one of a login. */
const USUAL = 1024
/** What the mailbox has open itself before anybody calls. */
const OWN = 48
const MOST_PINS = 2048
const MOST_KEPT = 256
const limitsName = cstring('limits')

const between = (least: number, value: number, most: number) => Math.max(least, Math.min(Math.floor(value), most))

const spare = (limit: number) => Math.max(0, limit - OWN)

/** The soft limit of `Max open files` in the text of /proc/PID/limits; Infinity for `unlimited`. */
export function softLimit(limits: string): number {
  const found = /^Max open files\s+(\d+|unlimited)/m.exec(limits)?.[1]
  if (found === undefined) return USUAL
  return found === 'unlimited' ? Number.POSITIVE_INFINITY : Number(found)
}

/** How many descriptors this process may have open. */
export function descriptorLimit(): number {
  const dir = openProcess(process.pid)
  if (dir < 0) return USUAL
  const text = readFile(dir, limitsName, LIMITS_SIZE)
  libc().close(dir)
  return text === null ? USUAL : softLimit(new TextDecoder().decode(text))
}

/** Processes to hold pinned, four descriptors each: a quarter of all; 32 where half of what is to spare allows them. */
export const pinsWithin = (limit: number): number => between(between(1, spare(limit) / 8, 32), limit / 16, MOST_PINS)

/** Folders of open files that the search keeps: an eighth of what is to spare. */
export const keptWithin = (limit: number): number => between(0, spare(limit) / 8, MOST_KEPT)

/** The errno for which nothing more can be opened now, such as EMFILE; 0 where something can. */
export function shortage(): number {
  const dir = openProcess(process.pid)
  if (dir < 0) return -dir
  libc().close(dir)
  return 0
}
