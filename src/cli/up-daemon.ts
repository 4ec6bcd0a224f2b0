// The mailbox that `up` needs before it writes anything, and `down` stops: the one that runs, a service, or one in the background.
import { userInfo } from 'node:os'
import { join } from 'node:path'
import type { Health } from '../client/client.ts'
import { isRunning, lastWords, logEnd, logPath, startBackground, stopBackground } from '../install/background.ts'
import { portRefusal } from '../install/doctor/port.ts'
import { type Installation, isOurs, STARTING } from '../install/record.ts'
import type { ServiceStep, ServiceTarget } from '../install/service-step.ts'
import { isLocked } from '../store/lock.ts'
import { Refusal } from '../wire/refusal.ts'
import { agentAbove } from './agent-above.ts'
import { anonymous } from './connect.ts'
import type { Context } from './context.ts'
import type { Installer } from './installer.ts'
import type { Io } from './io.ts'
import { DEFAULT_PORT, readDaemonFile } from './place.ts'

const START_MS = 15_000
const STOP_MS = 10_000
/** From the start of a process until it holds the lock of its folder, on a machine that is busy. */
const SPAWN_MS = 3_000

export type Started =
  | 'runs already'
  | 'started as a service'
  | 'started in the background'
  | 'started again as a service'

/** What it says of itself; null where none answers. @throws Refusal when something else answers there */
export async function healthOf(context: Context): Promise<Health | null> {
  const client = anonymous(context.place)
  try {
    return await client.health({ timeoutMs: 3_000 })
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'daemon_unreachable') return null
    throw error
  } finally {
    client.close()
  }
}

/** What was asked for at first stays until something else is. */
export const serviceTarget = ({ io, place }: Context, { us, record }: Installer): ServiceTarget => ({
  us,
  dataDir: place.dataDir,
  home: io.home,
  env: io.env,
  port: place.port ?? record.where.port,
  socket: place.socketGiven ? place.socket : record.where.socket,
  user: userOf(io),
})

/** Windows names a user within his domain. */
function userOf({ env, platform }: Io): string {
  const { USER, USERNAME, USERDOMAIN } = env
  if (platform === 'win32' && USERNAME) return USERDOMAIN ? `${USERDOMAIN}\\${USERNAME}` : USERNAME
  return USER || userInfo().username
}

/**
 * Before a mailbox is started: looked at first, since a program that never answers would be waited for.
 * @throws Refusal `port_taken` naming who holds the port; nothing is thrown where a mailbox holds the data folder
 */
export async function portMustBeFree(context: Context, { record }: Installer): Promise<void> {
  const { dataDir, port: asked } = context.place
  if (isLocked(join(dataDir, 'lock'))) return
  const port = asked ?? record.where.port ?? record.background?.port ?? DEFAULT_PORT
  const refusal = await portRefusal(port)
  if (refusal) throw refusal
}

/**
 * Sees to it that a mailbox answers. `service` null: none is wanted, or there is no manager for one.
 * @throws Refusal when it does not come up, with the reason from its log; `attestation_down` when it can prove nobody
 */
export async function ensureDaemon(
  context: Context,
  installer: Installer,
  service: ServiceStep | null,
): Promise<Started> {
  const { record, us } = installer
  const { place, io } = context
  const target = serviceTarget(context, installer)
  const before = await settled(context, record)
  if (before !== null) {
    mustProve(before)
    const changed = record.service && service !== null ? await service.plan(target) : null
    if (!changed?.length) return 'runs already'
    if (service !== null) await installService(service, target, record) // the unit of another version, or of our program at another place
    return 'started again as a service'
  }
  await notByAgent(io)
  await portMustBeFree(context, installer)
  let isGone = () => false
  let from = 0
  const asService = service !== null && (await service.plan(target)) !== null
  if (asService) await installService(service, target, record)
  else {
    const { background } = record // one that was stopped comes back where it was
    const port = place.port ?? background?.port ?? null
    const socket = (place.socketGiven ? place.socket : null) ?? background?.socket ?? null
    const words = [...us.program, 'serve', '--data-dir', place.dataDir]
    if (port !== null) words.push('--port', String(port))
    if (socket !== null) words.push('--socket', socket)
    const where = { ...(port ? { port } : {}), ...(socket === null ? {} : { socket }) }
    record.set({ background: { ...where, pid: STARTING } })
    from = logEnd(place.dataDir)
    const pid = await startBackground(words, place.dataDir, io.env)
    record.set({ background: { ...where, pid } })
    isGone = () => !isRunning(pid)
  }
  const where = asService ? 'see: mail4agent service logs' : `see ${logPath(place.dataDir)}`
  await untilItAnswers(
    context,
    where,
    () => (asService ? 'the service does not answer' : lastWords(place.dataDir, from) || 'it ended at once'),
    isGone,
  )
  return asService ? 'started as a service' : 'started in the background'
}

/** @throws Refusal `agent_ancestor`: what an agent starts would be of its session, and act for its user */
export async function notByAgent(io: Io): Promise<void> {
  const agent = await agentAbove(io)
  if (agent === null) return
  throw new Refusal(
    'agent_ancestor',
    `${agent} may not set up the mailbox`,
    { agent },
    'run this in a terminal of your own',
  )
}

/**
 * Waits for a mailbox that was started.
 * @throws Refusal `daemon_unreachable` with `reason` when it does not come up; `attestation_down` when it can prove nobody
 */
export async function untilItAnswers(
  context: Context,
  hint: string,
  reason: () => string = () => 'the service does not answer',
  isGone: () => boolean = () => false,
): Promise<void> {
  for (const end = performance.now() + START_MS; performance.now() < end && !isGone(); await Bun.sleep(100)) {
    const health = readDaemonFile(context.place.dataDir) === null ? null : await healthOf(context)
    if (health !== null) return mustProve(health)
  }
  throw new Refusal('daemon_unreachable', `the mailbox did not start: ${reason()}`, {}, hint)
}

/**
 * As `healthOf`, but one that we started and that does not answer yet is waited for: an `up` that was ended by force leaves one
 * on its way, which nobody would know of any more.
 * @throws Refusal `busy` for one that holds the data folder and does not answer
 */
async function settled(context: Context, { background }: Installation): Promise<Health | null> {
  const { dataDir } = context.place
  const begin = performance.now()
  for (;;) {
    const health = await healthOf(context)
    if (health !== null || background === null) return health
    const waited = performance.now() - begin
    if (!isLocked(join(dataDir, 'lock'))) {
      if (background.pid !== STARTING && !isRunning(background.pid)) return null
      if (waited > SPAWN_MS) return null // that process is another one by now
    } else if (waited > START_MS) {
      const pid = readDaemonFile(dataDir)?.pid ?? background.pid
      const who = pid === STARTING ? 'a mailbox' : `the mailbox (process ${pid})`
      throw new Refusal(
        'busy',
        `${who} holds ${dataDir} and does not answer`,
        { pid },
        'end that process, and try again',
      )
    }
    await Bun.sleep(100)
  }
}

/** Recorded before it happens, so that `down` finds what was cut off. @throws Refusal; nothing is left then */
export async function installService(service: ServiceStep, target: ServiceTarget, record: Installation): Promise<void> {
  const before = { service: record.service, where: record.where }
  record.set({ service: true, where: { port: target.port, socket: target.socket } })
  try {
    await service.install(target)
  } catch (error) {
    record.set(before)
    throw error
  }
}

function mustProve({ attestation }: Health): void {
  if (!attestation.ok)
    throw new Refusal(
      'attestation_down',
      `the mailbox cannot prove its callers: ${attestation.reason ?? 'no reason given'}`,
    )
}

/** Stops what `up` started. A mailbox that somebody else started goes on; its line says so. */
export async function stopDaemon(context: Context, installer: Installer, service: ServiceStep | null): Promise<string> {
  const { record } = installer
  if (record.service && service !== null) {
    await service.uninstall(serviceTarget(context, installer))
    record.set({ service: false, where: null })
    return 'stopped, and the service removed'
  }
  const running = await settled(context, record)
  const daemon = readDaemonFile(context.place.dataDir)
  const { background } = record
  if (running === null || daemon === null) {
    record.set({ background: null })
    return 'not running'
  }
  if (!isOurs(background, daemon.pid)) {
    record.set({ background: null })
    return 'still running: it was not started by up'
  }
  if (!(await stopBackground(daemon.pid, STOP_MS)))
    throw new Refusal('busy', `the mailbox (process ${daemon.pid}) does not stop`, {}, 'try again, or end that process')
  record.set({ background: null })
  return 'stopped'
}
