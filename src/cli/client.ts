// mail4agent client list, add, remove: single agent clients, as up and down do them all.
import { CLIENT_NAMES } from '../install/client.ts'
import { planClients } from '../install/plan.ts'
import { defineCommand } from './command.ts'
import { backLines, takeBack } from './down.ts'
import { installLock } from './install-lock.ts'
import { agreed, clientName, installerFor } from './installer.ts'
import { missingAccounts, plainPlan, setUp } from './up.ts'
import { ensureDaemon, healthOf } from './up-daemon.ts'
import { doneText, planText } from './up-text.ts'

const YES = { yes: { short: 'y', help: 'do not ask' } } as const

export const clientList = defineCommand({
  name: 'client list',
  summary: 'list agent clients: found here, set up',
  usage: '',
  help: `Lists the agent clients that mail4agent knows: whether they are on this machine, and whether the mailbox is set up in them.

  mail4agent client list`,
  options: {},
  words: [0, 0],
  async run(context) {
    const { machine, us, record } = installerFor(context)
    const clients = planClients(machine, us, CLIENT_NAMES).map((plan) => {
      const { name } = plan.client
      const files = record.files.filter(({ client }) => client === name).map(({ path }) => path)
      const inPlace = plan.refusal === null && plan.changes.length === 0
      const state =
        plan.refusal !== null ? 'damaged' : inPlace ? 'set up' : files.length > 0 ? 'incomplete' : 'not set up'
      return { client: name, title: plan.client.title, found: plan.found, state, files, refusal: plan.refusal }
    })
    return context.show({ clients }, () =>
      context.table(
        ['client', 'found', 'mailbox'],
        clients.map(({ client, found, state, refusal }) => [client, found ?? '-', refusal?.message ?? state]),
      ),
    )
  },
})

export const clientAdd = defineCommand({
  name: 'client add',
  summary: 'set the mailbox up in one agent client',
  usage: '[options] <client>',
  help: `Sets the mailbox up in one client, also where it was not found: its account, its configuration, its hooks. A mailbox that
does not run is started in the background.

  mail4agent client add codex
  mail4agent client add gemini --dry-run`,
  options: { ...YES, 'dry-run': { short: 'n', help: 'show the exact changes and do nothing' } },
  words: [1, 1],
  async run(context) {
    const installer = installerFor(context)
    const clients = planClients(installer.machine, installer.us, [clientName(context.word(0, 'the client'))])
    const runs = (await healthOf(context)) !== null
    const accounts = await missingAccounts(context, installer, clients, runs)
    const plan = { clients, runs, service: null, accounts }
    if (context.options['dry-run'])
      return context.show({ accounts, ...plainPlan(clients) }, () => planText(context, plan, true))
    const isDone = clients.every(({ changes }) => changes.length === 0)
    if (!isDone && !(await agreed(context, context.options.yes, 'Write its configuration?'))) return 1
    using _lock = installLock(context.place.dataDir, installer.record)
    const daemon = await ensureDaemon(context, installer, null)
    const done = await setUp(context, installer, clients)
    context.show({ daemon, ...done }, () => doneText(context, daemon, done))
    return done.clients.some(({ refusal }) => refusal !== null) ? 1 : 0
  },
})

export const clientRemove = defineCommand({
  name: 'client remove',
  summary: 'take the mailbox out of one agent client',
  usage: '[options] <client>',
  help: `Takes back what was written into the files of one client. Its account and its mail stay.

  mail4agent client remove gemini`,
  options: YES,
  words: [1, 1],
  async run(context) {
    const installer = installerFor(context)
    const name = clientName(context.word(0, 'the client'))
    const ours = () => installer.record.files.filter(({ client }) => client === name)
    if (ours().length === 0) return context.show({ files: [] }, () => `nothing of ours is in ${name}\n`)
    if (!(await agreed(context, context.options.yes, `Take the mailbox out of ${name}?`))) return 1
    using _lock = installLock(context.place.dataDir, installer.record)
    const files = takeBack(installer, ours())
    context.show({ files }, () =>
      backLines(files)
        .map((line) => `${line}\n`)
        .join(''),
    )
    return files.some(({ refusal }) => refusal !== null) ? 1 : 0
  },
})
