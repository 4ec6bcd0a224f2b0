// What an agent client itself wrote down, or holds open, for one process: the session that it runs. Nobody else's word.
import { closeSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs'
import { join } from 'node:path'
import type { Attestor, Process } from '../attest/attestor.ts'
import { CLIENTS } from './clients.ts'

/** The record of a session is a few hundred bytes; what is longer is none. */
const RECORD_BYTES = 16_384

/**
 * The session id in the client's record for that very process (pid and start time), or null.
 * Read anew each time: /clear and /resume change it while the process runs.
 */
export function recordedSession(attestor: Attestor, client: string, process: Process): string | null {
  const where = CLIENTS.get(client)?.record
  if (!where) return null
  const names = where.variable === null ? ['HOME'] : ['HOME', where.variable]
  const environment = attestor.environment(process, names)
  const home = environment.HOME
  const folder = (where.variable && environment[where.variable]) || (home && join(home, where.folder))
  if (!folder?.startsWith('/')) return null
  const record = readRecord(join(folder, 'sessions', `${process.pid}.json`))
  if (record === null || record.pid !== process.pid || typeof record.sessionId !== 'string') return null
  // Claude writes the start ticks, Qwen `boot id:start ticks`
  const started = record.procStart
  return started === process.start || started === `${process.boot}:${process.start}` ? record.sessionId : null
}

function readRecord(path: string): Record<string, unknown> | null {
  try {
    const fd = openSync(path, 'r')
    try {
      const bytes = Buffer.alloc(RECORD_BYTES)
      const record: unknown = JSON.parse(bytes.toString('utf8', 0, readSync(fd, bytes)))
      return typeof record === 'object' && record !== null ? { ...record } : null
    } finally {
      closeSync(fd)
    }
  } catch {
    return null // no record, or one that is being written: a fact less, never a refusal
  }
}

const THREAD =
  /\/(?:thread-writer-locks\/|rollout-[^/]*-)([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.(?:lock|jsonl)$/

/** The threads that a Codex process writes: it holds the lock and the rollout file of each open. Empty for any other client. */
export function openThreads(attestor: Attestor, client: string, process: Process): ReadonlySet<string> {
  const threads = new Set<string>()
  if (client !== 'codex') return threads
  const folder = `/proc/${process.pid}/fd`
  try {
    for (const fd of readdirSync(folder)) {
      const thread = THREAD.exec(linkOf(join(folder, fd)))?.[1]
      if (thread !== undefined) threads.add(thread)
    }
  } catch {
    return new Set()
  }
  // the pid was read by number: it must still be that process
  return attestor.alive(process) ? threads : new Set()
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return '' // closed while we looked
  }
}
