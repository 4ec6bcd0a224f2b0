// From a place and an account to the mailbox: the client with its route and its token.
import { MailClient } from '../client/client.ts'
import { Refusal } from '../wire/refusal.ts'
import { type FoundToken, findOperatorToken, findToken } from './account.ts'
import type { Io } from './io.ts'
import { type Place, routeTo } from './place.ts'

/**
 * `found` is told which token it is, and where it came from.
 * @throws Refusal `daemon_unreachable` before `which_account`: on a fresh machine the first thing to do is to start it
 */
export async function connect(
  place: Place,
  as: string | undefined,
  io: Io,
  role: 'account' | 'operator',
  found: (token: FoundToken) => void = () => {},
): Promise<MailClient> {
  const asked = { as, dataDir: place.dataDir, io }
  const agentAbove = async () => (await import('./agent-above.ts')).agentAbove(io)
  const route = routeTo(place)
  try {
    const token = await (role === 'operator' ? findOperatorToken : findToken)(asked, agentAbove)
    found(token)
    return new MailClient({ ...route, token: token.token })
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'which_account') await anonymous(place).health()
    throw error
  }
}

/** Without an account: for what the mailbox tells everybody. */
export const anonymous = (place: Place): MailClient => new MailClient({ ...routeTo(place), token: '' })
