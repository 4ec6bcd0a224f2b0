// mail4agent stop, start, restart: the mailbox of this data folder, however it runs: as a service, or in the background.
import { existsSync } from 'node:fs'
import { stopBackground } from '../install/background.ts'
import { isOurs } from '../install/record.ts'
import { serviceStep } from '../install/service-choice.ts'
import { Refusal } from '../wire/refusal.ts'
import { defineCommand } from './command.ts'
import type { Context } from './context.ts'
import { installLock } from './install-lock.ts'
import { installerFor } from './installer.ts'
import { readDaemonFile } from './place.ts'
import { ensureDaemon, healthOf, notByAgent, serviceTarget, untilItAnswers } from './up-daemon.ts'

const STOP_MS = 10_000

export const stop = defineCommand({
  name: 'stop',
  summary: 'stop the mailbox that runs here',
  usage: '',
  help: `Stops the mailbox of this data folder, whether it runs as a service, in the background or in a terminal. Mail stays;
\`mail4agent start\` starts it again. A service is also started at the next login; \`mail4agent down\` takes all back.

  mail4agent stop`,
  options: {},
  words: [0, 0],
  async run(context) {
    const state = await stopMailbox(context)
    return context.show({ state }, () => `${TEXTS[state]}\n`)
  },
})

export const start = defineCommand({
  name: 'start',
  summary: 'start the mailbox: the service, or in the background',
  usage: '',
  help: `Starts the mailbox as it was set up: the service that up installed, else in the background, where it listened before. It is
waited for. In a terminal of its own: mail4agent serve.

  mail4agent start`,
  options: {},
  words: [0, 0],
  async run(context) {
    const state = await startMailbox(context)
    return context.show({ state }, () => `the mailbox ${state}\n`)
  },
})

export const restart = defineCommand({
  name: 'restart',
  summary: 'stop the mailbox and start it again',
  usage: '',
  help: `Stops the mailbox as mail4agent stop does, and starts it as mail4agent start does: for a changed configuration.

  mail4agent restart`,
  options: {},
  words: [0, 0],
  async run(context) {
    await notByAgent(context.io)
    await stopMailbox(context)
    const state = await startMailbox(context)
    return context.show({ state }, () => `the mailbox ${state}\n`)
  },
})

export type Stopped = 'stopped the service' | 'stopped' | 'not running'

const TEXTS: Readonly<Record<Stopped, string>> = {
  'stopped the service': 'stopped the service; start it again: mail4agent start',
  stopped: 'stopped the mailbox; start it again: mail4agent start',
  'not running': 'no mailbox runs',
}

/** @throws Refusal `busy`: it does not stop */
export async function stopMailbox(context: Context): Promise<Stopped> {
  if (!existsSync(context.place.dataDir)) return 'not running'
  const installer = installerFor(context)
  using _lock = installLock(context.place.dataDir, installer.record)
  const { record } = installer
  const service = record.service ? serviceStep(installer.machine) : null
  const target = serviceTarget(context, installer)
  if (service !== null && (await service.isActive(target))) {
    await service.stop(target)
    return 'stopped the service'
  }
  const daemon = readDaemonFile(context.place.dataDir)
  if (daemon === null || (await healthOf(context)) === null) return 'not running'
  // where it listened, for when it is started again
  if (isOurs(record.background, daemon.pid)) record.set({ background: { ...daemon } })
  if (daemon.pid !== process.pid && (await stopBackground(daemon.pid, STOP_MS))) return 'stopped'
  const message = `the mailbox (process ${daemon.pid}) does not stop`
  throw new Refusal('busy', message, { pid: daemon.pid }, `try again, or end that process: kill -9 ${daemon.pid}`)
}

/** Resolves to how. @throws Refusal as `ensureDaemon` */
export async function startMailbox(context: Context): Promise<string> {
  const installer = installerFor(context)
  using _lock = installLock(context.place.dataDir, installer.record)
  const service = installer.record.service ? serviceStep(installer.machine) : null
  if (service === null) return ensureDaemon(context, installer, null)
  await notByAgent(context.io)
  const target = serviceTarget(context, installer)
  if (await service.isActive(target)) return 'runs already'
  await service.start(target)
  await untilItAnswers(context, 'see: mail4agent service logs')
  return 'started as a service'
}

/** Is there a mailbox of `up` in the background, running or stopped, and no service? Then service commands mean that one. */
export function isBackground(context: Context): boolean {
  const { background, service } = installerFor(context).record
  return background !== null && !service
}
