// An agent never speaks as its person: whose tokens are refused below an agent, and what the walk upwards shows.
import type { Process } from '../attest/attestor.ts'
import type { AccountRow } from '../store/rows.ts'
import { Refusal } from '../wire/refusal.ts'
import type { Recognised } from './recognised.ts'

/** An agent client, and the process that is it. */
export type AgentAbove = { client: string; pid: number }

/** The nearest agent client among the process and its ancestors, of any user: this takes rights away and gives none. */
export function agentAmong(
  process: Process,
  ancestors: readonly Process[],
  recognise: (process: Process) => Recognised | null,
): AgentAbove | null {
  for (const one of [process, ...ancestors]) {
    const found = recognise(one)
    if (found) return { client: found.client, pid: one.pid }
  }
  return null
}

/**
 * A person's or an operator's token is not for agents.
 * @throws Refusal `agent_ancestor` naming the client
 */
export function refuseAgent(account: AccountRow, { pid }: Process, agent: AgentAbove | null): void {
  if (agent === null || (account.kind !== 'person' && !account.can.operator)) return
  throw new Refusal('agent_ancestor', `${agent.client} may not use the token of ${account.name}`, {
    agent: agent.client,
    seen: { pid, agent_pid: agent.pid },
  })
}
