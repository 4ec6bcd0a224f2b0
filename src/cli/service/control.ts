// mail4agent service start, stop, status: the service as its manager sees it.
import type { ServiceState } from '../../install/service-step.ts'
import { Refusal } from '../../wire/refusal.ts'
import { defineCommand } from '../command.ts'
import type { Context } from '../context.ts'
import { isBackground, startMailbox, stopMailbox } from '../stop.ts'
import { untilItAnswers } from '../up-daemon.ts'
import { type Service, SYSTEM, usableService } from './common.ts'

export const serviceStart = defineCommand({
  name: 'service start',
  summary: 'start the service',
  usage: '[options] [<user>]',
  help: `Starts the service that was installed, also after it was given up. What had been in the way is said when it still is. Where up
started the mailbox in the background, it is that one; so it is with stop and logs.

  mail4agent service start`,
  options: SYSTEM,
  words: [0, 1],
  async run(context) {
    const { system } = context.options
    if (!system && isBackground(context))
      return context.show({ state: await startMailbox(context) }, () => 'the mailbox runs in the background\n')
    const service = await installed(context, system)
    if (!(await service.step.isActive(service.target))) await service.step.start(service.target)
    if (!system) await untilItAnswers(context, 'see: mail4agent service logs')
    return showState(context, service)
  },
})

export const serviceStop = defineCommand({
  name: 'service stop',
  summary: 'stop the service until it is started again',
  usage: '[options] [<user>]',
  help: `Stops the mailbox that runs as a service. It is started again by \`mail4agent service start\`, and at the next login.

  mail4agent service stop`,
  options: SYSTEM,
  words: [0, 1],
  async run(context) {
    const { system } = context.options
    if (!system && isBackground(context))
      return context.show({ state: await stopMailbox(context) }, () => 'stopped the mailbox in the background\n')
    const service = await installed(context, system)
    if (await service.step.isActive(service.target)) await service.step.stop(service.target)
    return showState(context, service)
  },
})

export const serviceStatus = defineCommand({
  name: 'service status',
  summary: 'does the service run, and why not',
  usage: '[options] [<user>]',
  help: `Shows what the service manager knows of the mailbox. Exits with 1 when it does not run. How the mailbox itself fares:
mail4agent status.

  mail4agent service status`,
  options: SYSTEM,
  words: [0, 1],
  async run(context) {
    const service = await usableService(context, context.options.system)
    const state = await service.step.state(service.target)
    showState(context, service, state)
    return state.active ? 0 : 1
  },
})

/** @throws Refusal `service_failed` where it is not installed */
async function installed(context: Context, system: boolean): Promise<Service> {
  const service = await usableService(context, system)
  const { installed, name } = await service.step.state(service.target)
  if (installed) return service
  throw new Refusal('service_failed', `${name} is not installed`, { name }, 'install it: mail4agent service install')
}

async function showState(context: Context, { step, target }: Service, known?: ServiceState): Promise<number> {
  const state = known ?? (await step.state(target))
  return context.show(state, () =>
    context.facts([
      ['service', `${state.name} of ${state.manager}`],
      ['state', state.installed ? state.state : 'not installed'],
      ['says', state.reason],
      ['process', state.pid === null ? null : String(state.pid)],
      ['restarts', state.restarts ? String(state.restarts) : null],
      ['file', state.installed ? state.file : null],
    ]),
  )
}
