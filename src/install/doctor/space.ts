// Room on the disk of the data folder.
import { existsSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Checkup } from './checkup.ts'
import { type Found, fail, fine, warn } from './finding.ts'

const MIB = 1024 * 1024
/** Bytes: below that sends may fail at any moment; and a day or two of busy agents. */
const LEAST = 4 * MIB
const LITTLE = 64 * MIB

export async function space({ dataDir, presence }: Checkup): Promise<Found> {
  let at = dataDir
  while (!existsSync(at)) at = dirname(at)
  const { bavail, bsize, files, ffree } = statfsSync(at)
  const free = bavail * bsize
  const facts = { path: at, free_bytes: free, free_files: files > 0 ? ffree : null }
  const todo = `make room on the disk of ${at}: df -h ${at}`
  const fault = (await presence()).health?.store
  if (fault?.ok === false)
    return fail(`the mailbox cannot write its store: ${fault.reason ?? 'no reason'}`, remedy(fault.reason, todo), facts)
  if (free < LEAST) return fail(`the disk of ${at} is full: ${size(free)} are left`, todo, facts)
  // a file system without a fixed number of files says 0 of 0
  if (files > 0 && ffree === 0) return fail(`no more files can be made on the disk of ${at}`, `df -i ${at}`, facts)
  if (free < LITTLE) return warn(`${size(free)} are left on the disk of ${at}`, todo, facts)
  return fine(`${size(free)} are free`, facts)
}

/** Room helps a full disk alone: what is damaged is the check of the store's affair, and a silent disk the system's. */
function remedy(reason: string | undefined, room: string): string {
  if (/damaged|malformed/.test(reason ?? '')) return 'see what the check of the store says'
  return /does not answer|I\/O error/.test(reason ?? '') ? 'see what the system says of the disk: dmesg' : room
}

/** `300 KiB`, `12 MiB`, `3.4 GiB`. */
export function size(bytes: number): string {
  if (bytes < MIB) return `${Math.ceil(bytes / 1024)} KiB`
  return bytes < 1024 * MIB ? `${Math.floor(bytes / MIB)} MiB` : `${(bytes / MIB / 1024).toFixed(1)} GiB`
}
