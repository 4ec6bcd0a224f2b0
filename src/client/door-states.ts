// The doors of all agents that run, each with whether a wake could use it now.
import type { PlannedDoor } from '../wire/wake.ts'
import type { MailClient } from './client.ts'

/** Each door may take a second to say so. */
const PATIENCE_MS = 60_000

/**
 * Asked as an operator; nobody is woken. `whose`: of one account or session, else of every account that runs.
 * @throws Refusal as `MailClient.admin`
 */
export async function doorStates(
  client: MailClient,
  whose: { account: string; session: string | null } | null = null,
): Promise<PlannedDoor[]> {
  const { doors } = await client.admin('wake/plan', whose ?? {}, { timeoutMs: PATIENCE_MS })
  return doors
}
