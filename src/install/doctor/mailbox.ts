// Does a mailbox run on this data folder, exactly one, and does it answer.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { isLocked } from '../../store/lock.ts'
import { Refusal } from '../../wire/refusal.ts'
import type { Checkup } from './checkup.ts'
import { type Found, fail, fine } from './finding.ts'
import { descriptorsOf } from './holders.ts'
import { port } from './port.ts'

/** Descriptors that a mailbox takes for a moment at each call. */
const RESERVE = 8

export async function mailbox(checkup: Checkup): Promise<Found> {
  const { call, dataDir } = checkup
  const { note, alive, holders, locked, health, socket } = await checkup.presence()
  const facts = { data: dataDir, note, alive, locked, holders, health }
  if (holders !== null && holders.length > 1) {
    const others = holders.filter(({ pid }) => pid !== note?.pid)
    return fail(
      `${holders.length} mailboxes run on ${dataDir}: processes ${holders.map(({ pid }) => pid).join(' and ')}`,
      `end all but one: kill ${others.map(({ pid }) => pid).join(' ')}; then stop the other one and start it again: ${call} serve`,
      facts,
    )
  }
  if (health !== null && !locked)
    return fail(
      `the lock of ${dataDir} was removed while process ${note?.pid} runs, so a second mailbox could start there`,
      `stop it and start it again: kill ${note?.pid}; ${call} serve`,
      facts,
    )
  if (health !== null && note !== null)
    return fine(`process ${note.pid} runs on ${dataDir}, version ${health.version}`, facts)
  if (health !== null)
    return fail(
      `the mailbox runs, but its ${join(dataDir, 'daemon.json')} is gone`,
      `stop it and start it again: ${call} serve`,
      facts,
    )
  if (locked) {
    const pid = holders?.[0]?.pid ?? note?.pid
    const who = pid === undefined ? 'a mailbox' : `process ${pid}`
    const reason = socket instanceof Refusal ? `: ${socket.message}` : ''
    const descriptors = pid === undefined ? null : descriptorsOf(pid)
    if (pid !== undefined && descriptors !== null && descriptors.open + RESERVE >= descriptors.limit)
      return fail(
        `${who} has ${descriptors.open} files and connections open and may have ${descriptors.limit}, so it takes no more`,
        `close connections that are not used: ss -tp; or raise its limit: prlimit --pid ${pid} --nofile=65536`,
        { ...facts, descriptors },
      )
    return fail(
      `${who} holds ${dataDir} and does not answer${reason}`,
      `stop it and start it again: kill ${pid ?? '<its process>'}; ${call} serve`,
      facts,
    )
  }
  return stopped(checkup, facts)
}

async function stopped(checkup: Checkup, facts: Found['facts']): Promise<Found> {
  const { call, dataDir, start } = checkup
  const { note } = await checkup.presence()
  const left = note === null ? '' : `; process ${note.pid}, which was there, has gone without a word`
  const what = `no mailbox runs on ${dataDir}${left}`
  const isInstalled = installed(checkup)
  const todo = isInstalled ? `${call} up` : `${call} serve`
  const canStart = isInstalled && isConfigured(checkup) && (await port(checkup)).level === 'ok'
  if (note === null && !canStart) return fail(what, todo, facts)
  return fail(what, todo, facts, async () => {
    const done: string[] = []
    if (isLocked(join(dataDir, 'lock'))) return done // one has started meanwhile
    if (note !== null) {
      rmSync(join(dataDir, 'daemon.json'), { force: true })
      done.push(`removed ${join(dataDir, 'daemon.json')}, which a mailbox that is gone had left`)
    }
    if (canStart) done.push(`the mailbox ${await start()}`)
    return done
  })
}

/** A start with a configuration that cannot be understood is refused. */
function isConfigured({ settings }: Checkup): boolean {
  try {
    settings()
    return true
  } catch {
    return false
  }
}

/** Did `up` start the mailbox, as a service or in the background? Then it is ours to start again. */
function installed({ record }: Checkup): boolean {
  try {
    const { background, service } = record()
    return background !== null || service
  } catch {
    return false
  }
}
