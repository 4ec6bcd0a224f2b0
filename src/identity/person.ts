// An agent never speaks as its person: whose tokens are refused below an agent, and what the walk upwards shows.
import type { Process } from '../attest/attestor.ts'
import type { AccountRow } from '../store/rows.ts'
import { Refusal } from '../wire/refusal.ts'
import type { Recognised } from './recognised.ts'

/** The nearest agent client among the process and its ancestors, of any user: this takes rights away and gives none. */
export function agentAmong(
  process: Process,
  ancestors: readonly Process[],
  recognise: (process: Process) => Recognised | null,
): string | null {
  for (const one of [process, ...ancestors]) {
    const found = recognise(one)
    if (found) return found.client
  }
  return null
}

/**
 * A person's or an operator's token is not for agents.
 * @throws Refusal `agent_ancestor` naming the client
 */
export function refuseAgent(account: AccountRow, agent: string | null): void {
  if (agent === null || (account.kind !== 'person' && !account.can.operator)) return
  throw new Refusal('agent_ancestor', `${agent} may not use the token of ${account.name}`, { agent })
}
