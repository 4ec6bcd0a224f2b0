// Which process stands for a one-shot caller (a CLI, curl in a shell, a hook, a bridge): the walk up its ancestors.
import type { Process } from '../attest/attestor.ts'

/** What the walk asks of each process. */
export type Look = {
  /** Accounts that have a live session of this very process. */
  accounts(process: Process): ReadonlySet<number>
  isAgent(process: Process): boolean
}

/** Each way in which the process of a session is found, and what a person is told of it. */
export const ANCHOR_RULES = {
  speaks_mcp: 'it speaks MCP itself over TCP, so it is a session of its own',
  own_session: 'it has a session of this account itself',
  is_agent: 'it is an agent client itself',
  session_above: 'the nearest process above that has a session has one of this account',
  agent_above: 'it is the nearest agent client above, and has no session of another account',
  other_account_above: 'the nearest session above is of another account, so the caller stands for itself',
  other_user_above: 'the nearest agent client above is of another user, so the caller stands for itself',
  terminal: "no agent is above; this process leads the caller's terminal session",
  itself: 'no agent and no session is above, and no terminal session that has its leader: the caller stands for itself',
} as const

export type AnchorRule = keyof typeof ANCHOR_RULES
export type Anchor = { process: Process; rule: AnchorRule }

/**
 * The process whose session a one-shot caller acts in, itself included, and by which rule.
 * `ancestors` are nearest first, as the kernel proved them. The first one that has a session, or is an agent client, ends
 * the walk: it is the anchor when the account is its own (or it has none yet), else the caller stands for itself, never
 * for an outer one. Without any: the leader of the caller's terminal session, else the caller.
 */
export function anchorOf(caller: Process, ancestors: readonly Process[], account: number, look: Look): Anchor {
  const leader = terminalLeader(caller, ancestors)
  for (const process of [caller, ...ancestors]) {
    const accounts = look.accounts(process)
    const agent = look.isAgent(process)
    if (process.uid !== caller.uid) {
      if (agent) return { process: caller, rule: 'other_user_above' }
      continue
    }
    if (accounts.has(account)) return { process, rule: process === caller ? 'own_session' : 'session_above' }
    // a person may use several accounts from one terminal: its leader then has a session of each
    if (accounts.size > 0 && (agent || process !== leader)) return { process: caller, rule: 'other_account_above' }
    if (agent) return { process, rule: process === caller ? 'is_agent' : 'agent_above' }
  }
  return leader ? { process: leader, rule: 'terminal' } : { process: caller, rule: 'itself' }
}

/**
 * Accounts of which a caller has a session without showing a token: those of the nearest process, itself included, that has
 * any. A session of an agent client is never passed over on the way to an outer one.
 */
export function accountsAlready(caller: Process, ancestors: readonly Process[], look: Look): number[] {
  for (const process of [caller, ...ancestors]) {
    const ours = process.uid === caller.uid
    const accounts = ours ? look.accounts(process) : new Set<number>()
    if (accounts.size > 0) return [...accounts]
    if (look.isAgent(process)) return []
  }
  return []
}

/** The process that leads the caller's session and its terminal, if it still runs above the caller: credentials(7). */
function terminalLeader(caller: Process, ancestors: readonly Process[]): Process | null {
  if (caller.tty === 0) return null
  const leads = (process: Process) => process.pid === caller.sid && process.sid === process.pid
  return [caller, ...ancestors].find((process) => leads(process) && process.uid === caller.uid) ?? null
}
