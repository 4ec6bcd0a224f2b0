// mail4agent service install, uninstall: the mailbox under the service manager of this machine.
import { stopBackground } from '../../install/background.ts'
import type { ServiceChange } from '../../install/service-step.ts'
import { Refusal } from '../../wire/refusal.ts'
import { defineCommand } from '../command.ts'
import type { Context } from '../context.ts'
import { installLock } from '../install-lock.ts'
import { readDaemonFile } from '../place.ts'
import { healthOf, installService, notByAgent, untilItAnswers } from '../up-daemon.ts'
import { type Service, SYSTEM, serviceOf, usableService } from './common.ts'

const STOP_MS = 10_000

export const serviceInstall = defineCommand({
  name: 'service install',
  summary: 'run the mailbox as a service: now, and whenever you log in',
  usage: '[options] [<user>]',
  help: `Writes the service, starts it, and has it started from now on: a unit of the user's systemd, an agent of launchd, or a
scheduled task of Windows. With --system it is an instance of a template for the machine's systemd, a daemon of launchd, or
a task that starts with the machine. A mailbox that up started in the background is stopped first; mail stays where it is.
When it fails it is started again; after five failures in two minutes, or when another start would change nothing, it stays
down, and \`mail4agent service status\` says why.

  mail4agent service install
  mail4agent service install --print             show the unit and the commands, and do nothing
  sudo mail4agent service install --system pat   pat's mailbox, in /var/lib/mail4agent/pat, from boot on`,
  options: { ...SYSTEM, print: { help: 'show what would be written and run, and do nothing' } },
  words: [0, 1],
  async run(context) {
    const { system, print } = context.options
    if (print) {
      const { step, target } = serviceOf(context, system)
      const changes = step.describe(target)
      return context.show({ changes }, () => changesText(changes))
    }
    await notByAgent(context.io)
    const service = await usableService(context, system)
    const { step, target, installer } = service
    // of the machine's units root alone writes, and root's own data folder has no part in them
    using _lock = system ? null : installLock(target.dataDir, installer.record)
    if (system) await step.install(target)
    else {
      await makeRoom(context, service)
      await installService(step, target, installer.record)
      await untilItAnswers(context, 'see: mail4agent service logs')
    }
    const state = await step.state(target)
    return context.show({ service: state, note: step.note }, () =>
      [
        `${state.name}: ${state.state}`,
        ...(step.note === null ? [] : [step.note]),
        'stop and remove it: mail4agent service uninstall',
      ]
        .map((line) => `${line}\n`)
        .join(''),
    )
  },
})

export const serviceUninstall = defineCommand({
  name: 'service uninstall',
  summary: 'stop the service and remove it',
  usage: '[options] [<user>]',
  help: `Stops the mailbox that runs as a service, and removes the service. Mail, accounts and tokens stay.

  mail4agent service uninstall
  sudo mail4agent service uninstall --system pat`,
  options: SYSTEM,
  words: [0, 1],
  async run(context) {
    const { system } = context.options
    const { step, target, installer } = await usableService(context, system)
    const { installed, name } = await step.state(target)
    if (installed) {
      using _lock = system ? null : installLock(target.dataDir, installer.record)
      await step.uninstall(target)
      if (!system) installer.record.set({ service: false, where: null })
    }
    return context.show({ name, removed: installed }, () =>
      installed ? `stopped and removed ${name}\n` : `${name} is not installed\n`,
    )
  },
})

/** One mailbox per data folder: the one that we started in the background gives way, another one is named. */
async function makeRoom(context: Context, { step, target, installer }: Service): Promise<void> {
  if ((await healthOf(context)) === null || (await step.isActive(target))) return
  const daemon = readDaemonFile(target.dataDir)
  const { record } = installer
  if (daemon === null || record.background?.pid !== daemon.pid)
    throw new Refusal(
      'already_running',
      `a mailbox that is no service runs already${daemon === null ? '' : `: process ${daemon.pid}`}`,
      { pid: daemon?.pid ?? null },
      'stop it, and say this again',
    )
  context.progress('stopping the mailbox in the background')
  if (!(await stopBackground(daemon.pid, STOP_MS)))
    throw new Refusal('busy', `the mailbox (process ${daemon.pid}) does not stop`, {}, 'try again, or end that process')
  record.set({ background: null })
}

function changesText(changes: readonly ServiceChange[]): string {
  return changes.map(({ what, path, text }) => (text ? `# ${path}\n${text}\n` : `$ ${what}\n`)).join('')
}
