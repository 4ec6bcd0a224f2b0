// mail4agent up: one command that sets everything up: mailbox, accounts, the agent clients' configuration, a first letter.
import { MailClient } from '../client/client.ts'
import { applyFile } from '../install/apply.ts'
import { CLIENT_NAMES } from '../install/client.ts'
import { type ClientPlan, planClients } from '../install/plan.ts'
import { serviceStep } from '../install/service-choice.ts'
import type { Account } from '../wire/admin.ts'
import { canonical } from '../wire/ids.ts'
import { Refusal } from '../wire/refusal.ts'
import { defineCommand } from './command.ts'
import type { Context } from './context.ts'
import { defaultAccount, setDefaultAccount } from './default-account.ts'
import { installLock } from './install-lock.ts'
import { agreed, type Installer, installerFor, onlyNames } from './installer.ts'
import { routeTo } from './place.ts'
import { storedToken } from './token-files.ts'
import { accountOf, allAccounts, ensureAccount, personOf } from './up-accounts.ts'
import { ensureDaemon, healthOf, portMustBeFree, serviceTarget } from './up-daemon.ts'
import { type Done, doneText, planText } from './up-text.ts'

export const up = defineCommand({
  name: 'up',
  summary: 'set everything up: mailbox, accounts, agent clients',
  usage: '[options]',
  help: `Finds the agent clients of this machine and shows what it will do. Then it starts the mailbox, makes an account for each
client and one for you, adds the mailbox and its hooks to each client's own configuration, and sends each a letter.
Nothing of a client is written before the mailbox answers. Run again it changes nothing, or goes on where it was cut off.
\`mail4agent down\` takes all of it back and leaves every file as it was.

  mail4agent up
  mail4agent up --dry-run                 only show it, with the exact differences
  mail4agent up --yes --only claude,codex

Clients start \`mail4agent mcp --as <client>\`: the token stays in the data folder and in no client's file.`,
  options: {
    yes: { short: 'y', help: 'do not ask' },
    'dry-run': { short: 'n', help: 'show the exact changes and do nothing' },
    'no-service': { help: 'install no service; start the mailbox in the background if none runs' },
    only: { value: 'CLIENTS', multiple: true, help: `these alone, of ${CLIENT_NAMES.join(',')}` },
  },
  words: [0, 0],
  async run(context) {
    const { options } = context
    const installer = installerFor(context)
    const only = onlyNames(options.only)
    const all = planClients(installer.machine, installer.us, only ?? CLIENT_NAMES)
    const clients = all.filter(({ found }) => found !== null || only !== null)
    const service = options['no-service'] ? null : serviceStep(installer.machine)
    await portMustBeFree(context, installer)
    const runs = (await healthOf(context)) !== null
    const isAsked = service !== null && (!runs || installer.record.service)
    const steps = isAsked ? await service.plan(serviceTarget(context, installer)) : null
    const accounts = await missingAccounts(context, installer, clients, runs)
    const plan = { clients, runs, service: steps, accounts }
    if (options['dry-run'])
      return context.show({ runs, service: steps, accounts, ...plainPlan(clients) }, () =>
        planText(context, plan, true),
      )

    const isDone =
      runs && accounts.length === 0 && !steps?.length && clients.every(({ changes }) => changes.length === 0)
    if (!isDone) {
      if (!context.json) context.say(planText(context, plan, false).trimEnd())
      if (!(await agreed(context, options.yes, 'Do this?'))) return 1
    }
    using _lock = installLock(context.place.dataDir, installer.record)
    const daemon = await ensureDaemon(context, installer, service)
    const done = await setUp(context, installer, clients)
    const code = done.clients.some(({ refusal }) => refusal !== null) ? 1 : 0
    context.show({ daemon, ...done }, () => doneText(context, daemon, done))
    return code
  },
})

/** The accounts that would be made. A mailbox that cannot be asked leaves it to the tokens that are here. */
export async function missingAccounts(
  context: Context,
  { record }: Installer,
  clients: readonly ClientPlan[],
  runs: boolean,
): Promise<string[]> {
  const known = runs ? await knownAccounts(context) : []
  const person = personOf(known, record.person, context.io)
  const wanted = clients.filter(({ refusal }) => refusal === null).map(({ client }) => client.name)
  const isThere = (name: string) =>
    storedToken(context.place.dataDir, name) !== null || known.some(({ id }) => canonical(id) === canonical(name))
  return [person.name, ...wanted].filter((name) => !isThere(name))
}

async function knownAccounts(context: Context): Promise<Account[]> {
  try {
    const operator = await context.operator()
    return await allAccounts(operator).finally(() => operator.close())
  } catch (error) {
    if (error instanceof Refusal) return []
    throw error
  }
}

export const plainPlan = (clients: readonly ClientPlan[]) => ({
  clients: clients.map(({ client, found, changes, notes, refusal }) => ({
    client: client.name,
    found,
    changes: changes.map(({ file, kind, diff }) => ({ path: file.path, kind, diff })),
    notes,
    refusal,
  })),
})

/** Accounts, then files, then letters: each step is there before the next depends on it. */
export async function setUp(context: Context, installer: Installer, clients: readonly ClientPlan[]): Promise<Done> {
  const { place, io } = context
  const { dataDir } = place
  const operator = await context.operator()
  try {
    const accounts = await allAccounts(operator)
    const person = personOf(accounts, installer.record.person, io)
    const done: Done = { person: person.name, made: [], clients: [], letters: [] }
    if (await ensureAccount(operator, accounts, dataDir, person)) done.made.push(person.name)
    if (installer.record.person !== person.name) installer.record.set({ person: person.name })
    if (defaultAccount(dataDir) === null) setDefaultAccount(dataDir, person.name)
    for (const plan of clients) {
      const { client, changes, notes } = plan
      let { refusal } = plan
      const written: string[] = []
      try {
        if (refusal === null && (await ensureAccount(operator, accounts, dataDir, accountOf(client.name))))
          done.made.push(client.name)
        for (const { part, file } of refusal === null ? changes : []) {
          applyFile(installer.record, client.name, part, file)
          written.push(file.path)
        }
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        refusal = error
      }
      done.clients.push({ client: client.name, title: client.title, written, notes, refusal })
    }
    await welcome(context, done)
    return done
  } finally {
    operator.close()
  }
}

/** One letter from the person to each account; the key makes a second one the same as the first. */
async function welcome({ place }: Context, done: Done): Promise<void> {
  const token = storedToken(place.dataDir, done.person)
  const ready = done.clients.filter(({ refusal }) => refusal === null)
  if (token === null || ready.length === 0) return
  const mailbox = new MailClient({ ...routeTo(place), token })
  try {
    for (const { client } of ready) {
      if (!done.made.includes(client)) continue
      const sent = await mailbox.call('send', {
        to: client,
        subject: 'Your mailbox works',
        body: WELCOME,
        idempotency_key: `mail4agent-up-${client}`,
      })
      if (sent.duplicate !== true) done.letters.push({ to: client, message_id: sent.message_id })
    }
  } finally {
    mailbox.close()
  }
}

const WELCOME = `This letter shows that mail reaches you. Nothing needs to be done: acknowledge it with m4a_mail_ack.
m4a_mail_peers shows whom you can write to.
`
