// The mailbox that runs while its program is replaced: stopped, started as the new one, waited for.
import { lastWords, logEnd, startBackground, stopBackground } from '../install/background.ts'
import { isOurs, STARTING } from '../install/record.ts'
import type { ServiceStep, ServiceTarget } from '../install/service-step.ts'
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
 * Stops the mailbox, a service by its manager. Where one in the background listened is kept: were we ended before it runs again,
 * the next upgrade starts it there.
 * @throws Refusal `busy` when it does not stop, `service_failed`
 */
export async function stopRunning(
  context: Context,
  installer: Installer,
  service: ServiceStep | null,
  { restart, daemon }: Running,
): Promise<void> {
  const { record } = installer
  if (restart === 'service') return await stopService(service, serviceTarget(context, installer))
  if (restart !== 'background' || daemon === null) return
  record.set({ background: { ...daemon } })
  if (!(await stopBackground(daemon.pid, STOP_MS)))
    throw new Refusal('busy', `the mailbox (process ${daemon.pid}) does not stop`, {}, 'try again, or end that process')
}

/** Also one that its manager is about to start again. It stays installed, and what a person changed of it stays too. */
async function stopService(service: ServiceStep | null, target: ServiceTarget): Promise<void> {
  if (service !== null && (await service.state(target)).installed) await service.stop(target)
}

/** @throws Refusal `service_failed`. Where somebody has removed it, it is installed again. */
async function startService(service: ServiceStep | null, target: ServiceTarget): Promise<void> {
  if (service === null) return
  if ((await service.state(target)).installed) await service.start(target)
  else await service.install(target)
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
    try {
      await startService(service, serviceTarget(context, installer))
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

/**
 * Ends what `startAs` has started and what did not come up: one in the background by force if need be, it is our own child; a
 * service so that its manager does not start it again and again.
 * @throws Refusal `service_failed`
 */
export async function endStarted(
  context: Context,
  installer: Installer,
  service: ServiceStep | null,
  { restart }: Running,
): Promise<void> {
  if (restart === 'service') return await stopService(service, serviceTarget(context, installer))
  const pid = installer.record.background?.pid
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
