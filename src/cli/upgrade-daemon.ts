// The mailbox that runs while its program is replaced: stopped, started as the new one, waited for.
import { lastWords, logEnd, startBackground, stopBackground } from '../install/background.ts'
import { isOurs, STARTING } from '../install/record.ts'
import type { ServiceStep } from '../install/service-step.ts'
import { Refusal } from '../wire/refusal.ts'
import type { Context } from './context.ts'
import type { Installer } from './installer.ts'
import { type Daemon, readDaemonFile } from './place.ts'
import { healthOf, serviceTarget } from './up-daemon.ts'

const STOP_MS = 10_000
/** A new version may bring the store to a new schema before it answers. */
const START_MS = 60_000

/** `by hand`: somebody else started it, and restarts it. `not needed`: it is of that version already. */
export type Restart = 'service' | 'background' | 'by hand' | 'not running' | 'not needed'

/** What runs now, as far as an upgrade is concerned. */
export type Running = {
  restart: Restart
  /** What it wrote down about itself; null where none runs. */
  daemon: Daemon | null
  version: string | null
  /** Can it prove its callers? What cannot is not asked to do so afterwards. */
  proves: boolean
}

export async function running(context: Context, { record }: Installer, service: ServiceStep | null): Promise<Running> {
  const health = await healthOf(context)
  const daemon = health === null ? null : readDaemonFile(context.place.dataDir)
  const rest = { daemon, version: health?.version ?? null, proves: health?.attestation.ok ?? true }
  if (record.service && service !== null) return { restart: 'service', ...rest }
  // also one that is to run and does not: an earlier upgrade was ended by force
  if (health === null) return { restart: record.background === null ? 'not running' : 'background', ...rest }
  const ours = daemon !== null && isOurs(record.background, daemon.pid)
  return { restart: ours ? 'background' : 'by hand', ...rest }
}

/**
 * Stops the mailbox; a service is stopped by its manager when it is started anew. Where it listened is kept: were we ended
 * before it runs again, the next upgrade starts it there.
 * @throws Refusal `busy` when it does not stop
 */
export async function stopRunning({ restart, daemon }: Running, { record }: Installer): Promise<void> {
  if (restart !== 'background' || daemon === null) return
  record.set({ background: { ...daemon } })
  if (!(await stopBackground(daemon.pid, STOP_MS)))
    throw new Refusal('busy', `the mailbox (process ${daemon.pid}) does not stop`, {}, 'try again, or end that process')
}

/** Starts `program` where the mailbox was, and waits for `version`. Resolves to null, or to why it did not come up. */
export async function startAs(
  context: Context,
  installer: Installer,
  service: ServiceStep | null,
  { restart, daemon, proves }: Running,
  { program, version }: { program: string; version: string },
): Promise<string | null> {
  const { place, io } = context
  let pid: number | null = null
  const from = logEnd(place.dataDir)
  if (restart === 'service') {
    const target = serviceTarget(context, installer)
    try {
      await service?.uninstall(target)
      await service?.install(target)
    } catch (error) {
      if (error instanceof Refusal) return error.message
      throw error
    }
  } else {
    const { background } = installer.record
    const port = place.port ?? background?.port ?? null
    const socket = (place.socketGiven ? place.socket : null) ?? background?.socket ?? null
    const words = [program, 'serve', '--data-dir', place.dataDir]
    if (port !== null) words.push('--port', String(port))
    if (socket !== null) words.push('--socket', socket)
    installer.record.set({ background: { ...background, pid: STARTING } })
    pid = await startBackground(words, place.dataDir, io.env)
    installer.record.set({ background: { ...background, pid } })
  }
  for (const end = performance.now() + START_MS; performance.now() < end; await Bun.sleep(100)) {
    const now = readDaemonFile(place.dataDir)
    const health = now === null || now.pid === daemon?.pid ? null : await healthOf(context)
    if (health?.version === version && (health.attestation.ok || !proves)) return null
    if (pid !== null && !isThere(pid)) return lastWords(place.dataDir, from) || 'it ended at once'
  }
  return `it did not answer within ${START_MS / 1_000} s`
}

/** Ends what `startAs` has started and what did not come up, by force if need be: it is our own child. */
export async function endStarted({ restart }: Running, { record }: Installer): Promise<void> {
  const pid = record.background?.pid
  if (restart !== 'background' || pid === undefined || pid === STARTING || (await stopBackground(pid, STOP_MS))) return
  process.kill(pid, 'SIGKILL')
  while (isThere(pid)) await Bun.sleep(20)
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
