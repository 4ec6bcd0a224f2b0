// The files of a process whose text has to be taken apart: its arguments, environment, users and children, proc(5).
import { cstring, libc, O_DIRECTORY } from './libc.ts'
import { numbersIn, openProcess, ownerOf, readFile } from './procfs.ts'

import { openStat, readStat, stat } from './stat.ts'

const ARGV_LIMIT = 256 * 1024
const ENVIRON_LIMIT = 2 * 1024 * 1024
const STATUS_LIMIT = 64 * 1024
const CHILDREN_LIMIT = 1024 * 1024
const cmdlineName = cstring('cmdline')
const environName = cstring('environ')
const statusName = cstring('status')
const taskName = cstring('task')
const decoder = new TextDecoder()

/** Null where it cannot be read; empty for a kernel thread. */
export function argvOf(dir: number): string[] | null {
  const raw = readFile(dir, cmdlineName, ARGV_LIMIT)
  return raw && nulSeparated(raw)
}

/** The named variables, none where the environment cannot be read. */
export function variablesOf(dir: number, names: readonly string[]): Record<string, string> {
  const raw = readFile(dir, environName, ENVIRON_LIMIT)
  const found: Record<string, string> = {}
  for (const entry of raw ? nulSeparated(raw) : []) {
    const cut = entry.indexOf('=')
    const key = entry.slice(0, cut)
    if (cut > 0 && names.includes(key) && !Object.hasOwn(found, key)) found[key] = entry.slice(cut + 1)
  }
  return found
}

function nulSeparated(raw: Uint8Array): string[] {
  const parts = decoder.decode(raw).split('\0')
  if (parts.at(-1) === '') parts.pop()
  return parts
}

/** The real user id; null where it cannot be read. */
export function realUidOf(dir: number): number | null {
  const raw = readFile(dir, statusName, STATUS_LIMIT)
  return raw && realUid(decoder.decode(raw))
}

/** The first number of the `Uid:` line of /proc/PID/status: proc_pid_status(5). */
export function realUid(status: string): number {
  const found = /^Uid:\s+(\d+)/m.exec(status)
  return found ? Number(found[1]) : -1
}

/** Does that process belong to `uid`, by its real or effective user id, and still exist? */
export function belongsTo(pid: number, uid: number): boolean {
  const dir = openProcess(pid)
  if (dir < 0) return false
  const belongs = ownerOf(dir) === uid || realUidOf(dir) === uid
  libc().close(dir)
  return belongs
}

/** The start time of the process that has this pid now, in ticks; null where it has ended. */
export function startOf(pid: number): number | null {
  const dir = openProcess(pid)
  if (dir < 0) return null
  const file = openStat(dir)
  libc().close(dir)
  if (file < 0) return null
  const runs = readStat(file)
  libc().close(file)
  return runs ? stat.start : null
}

/** Pids of the children of all threads of a process; null where the kernel does not tell. */
export function childrenOf(dir: number): number[] | null {
  const tasks = libc().openat(dir, taskName.at, O_DIRECTORY)
  if (tasks < 0) return null
  let found: number[] | null = null
  // The children of a thread that ends go to another thread, whose list may have been read already: start anew.
  for (let tries = 0; tries < 4 && found === null; tries++) found = listChildren(tasks)
  libc().close(tasks)
  return found
}

function listChildren(tasks: number): number[] | null {
  const threads = numbersIn(tasks)
  if (typeof threads === 'number') return null
  const found: number[] = []
  for (const thread of threads) {
    const text = readFile(tasks, cstring(`${thread}/children`), CHILDREN_LIMIT)
    if (text === null) return null
    for (const child of decoder.decode(text).split(' ')) if (child !== '') found.push(Number(child))
  }
  return found
}
