// mail4agent agent add, list, set, remove: accounts that may be started, and how.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { MailClient } from '../client/client.ts'
import { digestOf, newSecret } from '../engine/admin/secret.ts'
import type { AdminAnswer } from '../wire/admin.ts'
import { type Agent, PROVIDERS } from '../wire/dispatch.ts'
import { canonical } from '../wire/ids.ts'
import { LIMITS } from '../wire/limits.ts'
import { defineCommand, type Values } from './command.ts'
import type { Context } from './context.ts'
import { agentName } from './dispatch/text.ts'
import { prepareToken } from './token-files.ts'
import { seconds, usage, wholeNumber } from './usage.ts'

const PROFILE = {
  provider: { value: 'NAME', help: `the client, one of ${PROVIDERS.join(', ')}` },
  cwd: { value: 'DIR', help: 'the folder in which it works' },
  model: { value: 'MODEL', help: 'as the client names it' },
  permission: { value: 'WHAT', help: 'read, edit (default) or full: what it may do without asking anybody' },
  'max-turns': { value: 'N', help: 'turns of one attempt (100)' },
  attempts: { value: 'N', help: 'attempts on one dispatch (3)' },
  startup: { value: 'TIME', help: 'how long it may take to show life (90s)' },
  stall: { value: 'TIME', help: 'how long it may be silent without a tool at work (300s)' },
  'attempt-time': { value: 'TIME', help: 'the longest attempt (2h)' },
  'total-time': { value: 'TIME', help: 'the longest dispatch, all attempts (6h)' },
  'per-day': { value: 'N', help: 'dispatches in 24 hours (10)' },
  depth: { value: 'N', help: "how many runs away from a person's word it may be (3)" },
  allow: {
    value: 'NAMES',
    multiple: true,
    help: 'accounts that may have it started, beside persons; with set, none clears',
  },
  block: { value: 'NAMES', multiple: true, help: 'accounts that may not, persons too; with set, none clears' },
  env: { value: 'NAMES', multiple: true, help: "more variables of the mailbox's environment to pass on" },
} as const

const list = (given: readonly string[]): string[] | undefined =>
  given.length === 0
    ? undefined
    : given
        .flatMap((text) => text.split(',').map((name) => agentName(name.trim())))
        .filter((name) => name !== '' && name !== 'none')

function choice<T extends string>(option: string, given: string | undefined, known: readonly T[]): T | undefined {
  if (given === undefined) return undefined
  const found = known.find((one) => one === given)
  if (found === undefined) throw usage(`${option} is one of ${known.join(', ')}`)
  return found
}

const count = (option: string, given: string | undefined) =>
  given === undefined ? undefined : wholeNumber(option, given)
const time = (option: string, given: string | undefined) => (given === undefined ? undefined : seconds(option, given))

/** What the options say of a profile; what they do not say is left out. */
function profileOf({ options, io }: { options: Values<typeof PROFILE>; io: Context['io'] }) {
  const said = {
    model: options.model,
    permission: choice('--permission', options.permission, ['read', 'edit', 'full']),
    max_turns: count('--max-turns', options['max-turns']),
    attempts: count('--attempts', options.attempts),
    startup_secs: time('--startup', options.startup),
    stall_secs: time('--stall', options.stall),
    attempt_secs: time('--attempt-time', options['attempt-time']),
    total_secs: time('--total-time', options['total-time']),
    per_day: count('--per-day', options['per-day']),
    depth: count('--depth', options.depth),
    allow: list(options.allow),
    block: list(options.block),
    env: list(options.env),
    cwd: options.cwd === undefined ? undefined : resolve(io.cwd, options.cwd),
  }
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined))
}

/**
 * The client's executable as this person's shell finds it: the mailbox may be a service with a shorter PATH. A path is one from
 * the folder in which the command is given, as everywhere in a shell.
 */
function programFor(provider: string, words: readonly string[], { env, cwd }: Context['io']) {
  const [given, ...args] = words
  if (provider !== 'command' && given !== undefined) throw usage('words after -- are for the provider command alone')
  if (provider === 'command' && given === undefined)
    throw usage('the program is missing', 'name it behind two dashes: -- <program> <argument>…')
  const name = given ?? provider
  const found = name.includes('/') ? resolve(cwd, name) : Bun.which(name, { PATH: env.PATH ?? '' })
  if (given !== undefined && found === null) throw usage(`there is no program ${JSON.stringify(name)} on the PATH`)
  if (found !== null && !existsSync(found)) throw usage(`there is no file ${found}`, 'make it, or name another')
  return { ...(found === null ? {} : { program: found }), ...(provider === 'command' ? { args } : {}) }
}

export const agentAdd = defineCommand({
  name: 'agent add',
  summary: 'let an account be started on this machine',
  usage: '[options] <name> [-- <program> <argument>…]',
  help: `Makes an account something that can be started: which client, in which folder, with what it may do. The account is made where
there is none. Persons may have it started; other agents only where --allow names them and they have the capability dispatch.

  mail4agent agent add backend --provider claude --cwd ~/src/shop --max-turns 60
  mail4agent agent add docs --provider codex --cwd ~/src/docs --permission full --allow backend
  mail4agent agent add nightly --provider command --cwd ~/src/shop -- ./scripts/agent.sh --quiet

A program of your own gets the work on standard input and answers with the mail4agent command; its output may be JSON lines.`,
  options: PROFILE,
  words: [1, 100],
  async run(context) {
    const { options, io } = context
    const [word = '', ...words] = context.words
    const id = agentName(word)
    const provider = choice('--provider', options.provider, PROVIDERS)
    if (provider === undefined) throw usage(`--provider is missing: one of ${PROVIDERS.join(', ')}`)
    const { cwd = io.cwd, ...profile }: { cwd?: string } = profileOf(context)
    // looked at before anything is made
    if (!existsSync(cwd)) throw usage(`there is no folder ${cwd}`, 'make it, or name another with --cwd')
    const program = programFor(provider, words, io)
    const client = await context.operator()
    await ensureAccount(context, client, id)
    const answer = await client.admin('agent', { id, provider, cwd, ...program, ...profile })
    return context.show(answer, () => `${answer.id} can be started: ${answer.provider} in ${answer.cwd}\n`)
  },
})

/** Its own token is for other uses: a run has one of its own. */
async function ensureAccount(context: Context, client: MailClient, id: string): Promise<void> {
  const { accounts } = await client.admin('participant/list', { limit: LIMITS.pageMax })
  if (accounts.some((account) => canonical(account.id) === canonical(id))) return
  const secret = newSecret()
  const pending = prepareToken(context.place.dataDir, id, secret)
  try {
    await client.admin('participant', { id, digest: digestOf(secret) })
  } catch (error) {
    pending.drop()
    throw error
  }
  pending.keep()
  context.say(`made the account ${id}`)
}

export const agentSet = defineCommand({
  name: 'agent set',
  summary: 'change the profile of an agent',
  usage: '[options] <name> [-- <program> <argument>…]',
  help: `Changes what is named; the rest stays. What runs already goes on as it was started.

  mail4agent agent set backend --model opus --per-day 40
  mail4agent agent set backend --allow none`,
  options: PROFILE,
  words: [1, 100],
  async run(context) {
    const { options, io } = context
    const [word = '', ...words] = context.words
    const provider = choice('--provider', options.provider, PROVIDERS)
    const program = provider !== undefined || words.length > 0 ? programFor(provider ?? 'command', words, io) : {}
    const client = await context.operator()
    const answer = await client.admin('agent/set', {
      id: agentName(word),
      ...(provider === undefined ? {} : { provider }),
      ...program,
      ...profileOf(context),
    })
    return context.show(answer, () => agentText(answer, context))
  },
})

export const agentList = defineCommand({
  name: 'agent list',
  summary: 'list the agents that can be started',
  usage: '',
  help: `Lists the agents that can be started, and how they stand.

  mail4agent agent list`,
  options: {},
  words: [0, 0],
  async run(context) {
    const client = await context.operator()
    const agents: Agent[] = []
    let paused: string | null = null
    for (let after: string | null = null; ; ) {
      const page: AdminAnswer<'agent/list'> = await client.admin('agent/list', { limit: LIMITS.pageMax, after })
      agents.push(...page.agents)
      paused = page.paused
      if (!page.has_more) break
      after = page.after
    }
    context.show({ agents, paused, has_more: false, after: null }, () =>
      context.table(
        ['agent', 'provider', 'model', 'may', 'today', 'running', 'queued', 'folder'],
        agents.map((one) => [
          one.id,
          one.provider,
          one.model ?? '',
          one.permission,
          `${one.today}/${one.per_day}`,
          one.paused === null ? String(one.running) : 'paused',
          String(one.queued),
          one.cwd,
        ]),
      ),
    )
    if (paused !== null && !context.json) context.say(`nothing is started: ${paused}`)
    return 0
  },
})

export const agentRemove = defineCommand({
  name: 'agent remove',
  summary: 'remove the profile of an agent',
  usage: '<name>',
  help: `The account is not started any more: what runs is ended, what is queued is given up, whoever asked is told. Account and mail
stay.

  mail4agent agent remove backend`,
  options: {},
  words: [1, 1],
  async run(context) {
    const id = agentName(context.word(0, 'the agent'))
    const client = await context.operator()
    const answer = await client.admin('agent/remove', { id })
    return context.show(answer, () => `${id} is not started any more\n`)
  },
})

const agentText = (one: Agent, context: Context): string =>
  context.facts([
    ['agent', one.id],
    ['provider', one.provider],
    ['program', one.program],
    ['arguments', one.args.join(' ')],
    ['folder', one.cwd],
    ['model', one.model],
    ['permission', one.permission],
    ['turns', String(one.max_turns)],
    ['attempts', String(one.attempts)],
    [
      'times',
      `start ${one.startup_secs} s, silence ${one.stall_secs} s, attempt ${one.attempt_secs} s, all ${one.total_secs} s`,
    ],
    ['per day', `${one.today} of ${one.per_day}`],
    ['depth', String(one.depth)],
    ['may start it', ['persons', ...one.allow].join(', ')],
    ['may not', one.block.join(', ')],
    ['variables', one.env.join(', ')],
    ['paused', one.paused],
  ])
