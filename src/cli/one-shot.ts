// A command outside of any agent is a session of its own, which ends with it: what that means for claims and waits.
import type { MailClient } from '../client/client.ts'
import { Refusal } from '../wire/refusal.ts'

/** Does this very process stand for itself at the mailbox? Not where an agent, or a session above us, does. */
export async function isOneShot(client: MailClient): Promise<boolean> {
  try {
    const { card } = await client.call('whoami', {})
    return card?.attested.pid === process.pid
  } catch (error) {
    // the call that this is about says it better
    if (error instanceof Refusal) return false
    throw error
  }
}
