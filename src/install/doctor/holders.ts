// Which mailboxes have a data folder open: read from /proc, so it is known on Linux alone.
import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { join } from 'node:path'

export type Holder = { pid: number; name: string }

/**
 * Processes of our user that have the lock of `dataDir` open, also a lock that was removed since: proc_pid_fd(5).
 * Null where the system does not tell.
 */
export function holdersOf(dataDir: string): Holder[] | null {
  if (process.platform !== 'linux') return null
  let lock: string
  try {
    lock = join(realpathSync(dataDir), 'lock')
  } catch {
    return []
  }
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => links(pid).some((link) => link === lock || link === `${lock} (deleted)`))
    .map((pid) => ({ pid: Number(pid), name: nameOf(pid) }))
}

/** How many descriptors the process has, and may have: proc_pid_limits(5). Null where the system does not tell. */
export function descriptorsOf(pid: number): { open: number; limit: number } | null {
  try {
    const limit = /^Max open files +(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))?.[1]
    if (limit === undefined) return null
    return { open: readdirSync(`/proc/${pid}/fd`).length, limit: Number(limit) }
  } catch {
    return null
  }
}

/** What its descriptors lead to; nothing of a process that is not ours, or has ended meanwhile. */
function links(pid: string): string[] {
  const folder = `/proc/${pid}/fd`
  const read = (name: string) => {
    try {
      return [readlinkSync(join(folder, name))]
    } catch {
      return []
    }
  }
  try {
    return readdirSync(folder).flatMap(read)
  } catch {
    return []
  }
}

function nameOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return 'ended'
  }
}
