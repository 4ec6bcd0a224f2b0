// Agents: accounts that may be started, by their profiles; and the switches that pause that.
import { existsSync, statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import type { AgentRow, Profile } from '../../store/dispatch/rows.ts'
import type { AccountRow } from '../../store/rows.ts'
import type { AdminAnswer, AdminRequest } from '../../wire/admin.ts'
import type { Agent, AgentSet } from '../../wire/dispatch.ts'
import { LIMITS } from '../../wire/limits.ts'
import { malformed, Refusal } from '../../wire/refusal.ts'
import { checkLine } from '../../wire/text.ts'
import { rfc3339 } from '../../wire/time.ts'
import type { Mail } from '../mail.ts'
import { knownAccount } from './known.ts'
import { pageByName } from './paging.ts'

/** What a profile says unless it is told otherwise. */
export const PROFILE: Omit<Profile, 'provider' | 'cwd'> = {
  program: null,
  args: [],
  model: null,
  permission: 'edit',
  maxTurns: 100,
  attempts: 3,
  startupSecs: 90,
  stallSecs: 300,
  attemptSecs: 7_200,
  totalSecs: 21_600,
  perDay: 10,
  depth: 3,
  allow: [],
  block: [],
  env: [],
}

/** What is left out stays as in `base`, null is the default. */
function profileOf(base: Profile, asked: Omit<AgentSet, 'id'>): Profile {
  const pick = <T>(value: T | null | undefined, before: T, usual: T): T =>
    value === undefined ? before : value === null ? usual : value
  const profile: Profile = {
    provider: asked.provider ?? base.provider,
    cwd: asked.cwd ?? base.cwd,
    program: pick<string | null>(asked.program, base.program, PROFILE.program),
    args: pick(asked.args, base.args, PROFILE.args),
    model: pick<string | null>(asked.model, base.model, PROFILE.model),
    permission: pick(asked.permission, base.permission, PROFILE.permission),
    maxTurns: pick(asked.max_turns, base.maxTurns, PROFILE.maxTurns),
    attempts: pick(asked.attempts, base.attempts, PROFILE.attempts),
    startupSecs: pick(asked.startup_secs, base.startupSecs, PROFILE.startupSecs),
    stallSecs: pick(asked.stall_secs, base.stallSecs, PROFILE.stallSecs),
    attemptSecs: pick(asked.attempt_secs, base.attemptSecs, PROFILE.attemptSecs),
    totalSecs: pick(asked.total_secs, base.totalSecs, PROFILE.totalSecs),
    perDay: pick(asked.per_day, base.perDay, PROFILE.perDay),
    depth: pick(asked.depth, base.depth, PROFILE.depth),
    allow: pick(asked.allow, base.allow, PROFILE.allow),
    block: pick(asked.block, base.block, PROFILE.block),
    env: pick(asked.env, base.env, PROFILE.env),
  }
  check(profile)
  return profile
}

function check({ provider, program, args, cwd, env }: Profile): void {
  checkLine('cwd', cwd, 4_096)
  if (!isAbsolute(cwd)) throw malformed('cwd', 'is no absolute path')
  if (!existsSync(cwd) || !statSync(cwd).isDirectory()) throw malformed('cwd', 'is no folder')
  if (program !== null && !isAbsolute(program)) throw malformed('program', 'is no absolute path')
  if (provider === 'command' && program === null)
    throw malformed('program', 'is missing; the provider command needs one')
  if (provider !== 'command' && args.length > 0) throw malformed('args', 'are for the provider command alone')
  if (args.some((word) => word.includes('\0'))) throw malformed('args', 'have a NUL character')
  const ours = env.find((name) => name.startsWith('M4A_'))
  if (ours !== undefined) throw malformed('env', `${ours} is set by the mailbox alone`)
}

/** @throws Refusal `unknown_participant`, `name_taken` when it has a profile, `malformed` */
export async function addAgent(mail: Mail, request: AdminRequest<'agent'>): Promise<Agent> {
  const account = knownAccount(mail, request.id)
  if (account.kind === 'person' || account.can.operator)
    throw malformed('id', `${account.name} is a person's account; an agent uses its own`)
  if (mail.store.dispatches.agent(account.id))
    throw new Refusal(
      'name_taken',
      `${account.name} has a profile`,
      { agent: account.name },
      'change it: mail4agent agent set',
    )
  const profile = profileOf({ ...PROFILE, provider: request.provider, cwd: request.cwd }, request)
  return agentView(mail, account, await mail.store.dispatches.putAgent(account.id, profile, null))
}

/** @throws Refusal `not_an_agent`, `malformed` */
export async function setAgent(mail: Mail, request: AdminRequest<'agent/set'>): Promise<Agent> {
  const { account, agent } = knownAgent(mail, request.id)
  const profile = profileOf(agent.profile, request)
  return agentView(mail, account, await mail.store.dispatches.putAgent(account.id, profile, pauseOf(agent)))
}

export function listAgents(mail: Mail, request: AdminRequest<'agent/list'>): AdminAnswer<'agent/list'> {
  const { dispatches, registry } = mail.store
  const known = dispatches.agents().flatMap((agent) => {
    const account = registry.accountById(agent.account)
    return account && registry.account(account.name)?.id === account.id ? [{ name: account.name, account, agent }] : []
  })
  const { rows, has_more, after } = pageByName(known, request)
  const agents = rows.map(({ account, agent }) => agentView(mail, account, agent))
  return { agents, paused: dispatches.pause?.reason ?? null, has_more, after }
}

/** What runs is ended, what is queued is given up: the supervisor sees to it. */
export async function removeAgent(
  mail: Mail,
  request: AdminRequest<'agent/remove'>,
): Promise<AdminAnswer<'agent/remove'>> {
  const { dispatches } = mail.store
  const { account } = knownAgent(mail, request.id)
  await dispatches.removeAgent(account.id)
  for (const row of dispatches.open())
    if (row.agent === account.id && row.stop === null)
      await dispatches.change(row.id, { stop: `the profile of ${account.name} was removed` })
  return {}
}

export async function pause(
  mail: Mail,
  request: AdminRequest<'dispatch/pause'>,
): Promise<AdminAnswer<'dispatch/pause'>> {
  checkLine('reason', request.reason, LIMITS.label)
  const why = { reason: request.reason, at: mail.now() }
  if (request.id == null) await mail.store.dispatches.pauseAll(why)
  else {
    const { account, agent } = knownAgent(mail, request.id)
    await mail.store.dispatches.putAgent(account.id, agent.profile, why)
  }
  return {}
}

export async function resume(
  mail: Mail,
  request: AdminRequest<'dispatch/resume'>,
): Promise<AdminAnswer<'dispatch/resume'>> {
  if (request.id == null) await mail.store.dispatches.pauseAll(null)
  else {
    const { account, agent } = knownAgent(mail, request.id)
    await mail.store.dispatches.putAgent(account.id, agent.profile, null)
  }
  mail.runs.look()
  return {}
}

const pauseOf = ({ paused, pausedAt }: AgentRow) =>
  paused === null ? null : { reason: paused, at: pausedAt ?? Date.now() }

function knownAgent(mail: Mail, name: string): { account: AccountRow; agent: AgentRow } {
  const account = knownAccount(mail, name)
  const agent = mail.store.dispatches.agent(account.id)
  if (!agent) throw new Refusal('not_an_agent', `${account.name} has no profile`, { agent: account.name })
  return { account, agent }
}

function agentView(mail: Mail, { id, name }: AccountRow, { profile, paused, created }: AgentRow): Agent {
  const { dispatches } = mail.store
  const open = dispatches.open().filter(({ agent }) => agent === id)
  const queued = open.filter(({ state }) => state === 'queued').length
  return {
    id: name,
    provider: profile.provider,
    program: profile.program,
    args: [...profile.args],
    cwd: profile.cwd,
    model: profile.model,
    permission: profile.permission,
    max_turns: profile.maxTurns,
    attempts: profile.attempts,
    startup_secs: profile.startupSecs,
    stall_secs: profile.stallSecs,
    attempt_secs: profile.attemptSecs,
    total_secs: profile.totalSecs,
    per_day: profile.perDay,
    depth: profile.depth,
    allow: [...profile.allow],
    block: [...profile.block],
    env: [...profile.env],
    paused,
    queued,
    running: open.length - queued,
    today: dispatches.today(id, mail.now()).count,
    created_at: rfc3339(created),
  }
}
