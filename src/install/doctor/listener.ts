// Who listens on a port, by the kernel's own table: also a program that never takes a connection. Linux alone has it as files.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

export type Listener = { pid: number | null; comm: string | null; exe: string | null; uid: number }

/** LISTEN of net/tcp_states.h, as proc_net(5) prints it. */
const LISTEN = '0A'

/** Null: nobody listens there, or the system has no such table. `pid` is null where the process is another user's. */
export function listenerOn(port: number): Listener | null {
  const row = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap(rowsOf).find(({ local }) => local === port)
  if (row === undefined) return null
  const pid = holderOf(row.inode)
  const comm = pid === null ? null : (textOf(`/proc/${pid}/comm`)?.trim() ?? null)
  return { pid, comm, exe: pid === null ? null : linkOf(`/proc/${pid}/exe`), uid: row.uid }
}

/** Columns of proc_net(5): 1 local address, 3 state, 7 uid, 9 inode. */
function rowsOf(path: string): { local: number; uid: number; inode: string }[] {
  const lines = textOf(path)?.split('\n').slice(1) ?? []
  return lines.flatMap((line) => {
    const columns = line.trim().split(/\s+/)
    const [, address = '', , state] = columns
    if (state !== LISTEN) return []
    return [
      { local: Number.parseInt(address.split(':')[1] ?? '', 16), uid: Number(columns[7]), inode: columns[9] ?? '' },
    ]
  })
}

function holderOf(inode: string): number | null {
  const pids = namesIn('/proc').filter((name) => /^\d+$/.test(name))
  const holder = pids.find((pid) =>
    namesIn(`/proc/${pid}/fd`).some((fd) => linkOf(`/proc/${pid}/fd/${fd}`) === `socket:[${inode}]`),
  )
  return holder === undefined ? null : Number(holder)
}

const orNull = <T>(work: () => T): T | null => {
  try {
    return work()
  } catch {
    return null // it has ended, or is another user's
  }
}
const namesIn = (path: string): string[] => orNull(() => readdirSync(path)) ?? []
const textOf = (path: string): string | null => orNull(() => readFileSync(path, 'utf8'))
const linkOf = (path: string): string | null => orNull(() => readlinkSync(path))
