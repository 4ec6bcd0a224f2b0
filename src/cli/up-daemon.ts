// The mailbox that `up` needs before it writes anything, and `down` stops: the one that runs, a service, or one in the background.
import type { Health } from '../client/client.ts'
import { lastWords, logPath, startBackground, stopBackground } from '../install/background.ts'
import { isOurs, STARTING } from '../install/record.ts'
import type { ServiceStep, ServiceTarget } from '../install/service-step.ts'
import { Refusal } from '../wire/refusal.ts'
import { agentAbove } from './agent-above.ts'
import { anonymous } from './connect.ts'
import type { Context } from './context.ts'
import type { Installer } from './installer.ts'
import { readDaemonFile } from './place.ts'

const START_MS = 15_000
const STOP_MS = 10_000

export type Started = 'runs already' | 'started as a service' | 'started in the background'

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

export const serviceTarget = ({ io, place }: Context, { us }: Installer): ServiceTarget => ({
  us,
  dataDir: place.dataDir,
  home: io.home,
  env: io.env,
})

/**
 * Sees to it that a mailbox answers. `service` null: none is wanted, or there is no manager for one.
 * @throws Refusal when it does not come up, with the reason from its log; `attestation_down` when it can prove nobody
 */
export async function ensureDaemon(
  context: Context,
  installer: Installer,
  service: ServiceStep | null,
): Promise<Started> {
  const before = await healthOf(context)
  if (before !== null) {
    mustProve(before)
    return 'runs already'
  }
  const { record, us } = installer
  const { place, io } = context
  const agent = await agentAbove(io)
  if (agent !== null)
    throw new Refusal(
      'agent_ancestor',
      `${agent} may not set up the mailbox`,
      { agent },
      'run this in a terminal of your own',
    )
  const target = serviceTarget(context, installer)
  const asService = service !== null && (await service.plan(target)) !== null
  if (asService) {
    record.set({ service: true })
    await service.install(target)
  } else {
    const port = place.port === null ? [] : ['--port', String(place.port)]
    const socket = place.socketGiven && place.socket !== null ? ['--socket', place.socket] : []
    const words = [...us.program, 'serve', '--data-dir', place.dataDir, ...port, ...socket]
    record.set({ background: { pid: STARTING } })
    const pid = await startBackground(words, place.dataDir, io.env)
    record.set({ background: { pid } })
  }
  for (const end = performance.now() + START_MS; performance.now() < end; await Bun.sleep(100)) {
    const health = readDaemonFile(place.dataDir) === null ? null : await healthOf(context)
    if (health === null) continue
    mustProve(health)
    return asService ? 'started as a service' : 'started in the background'
  }
  const reason = asService ? 'the service did not come up' : lastWords(place.dataDir)
  throw new Refusal('daemon_unreachable', `the mailbox did not start: ${reason}`, {}, `see ${logPath(place.dataDir)}`)
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
    record.set({ service: false })
    return 'stopped, and the service removed'
  }
  const running = await healthOf(context)
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
