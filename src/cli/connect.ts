// From a place and an account to the mailbox: the client with its route and its token.
import { join } from 'node:path'
import { MailClient } from '../client/client.ts'
import { Refusal } from '../wire/refusal.ts'
import { type FoundToken, findOperatorToken, findToken } from './account.ts'
import type { Io } from './io.ts'
import { type Place, routeTo } from './place.ts'
import { OPERATOR, readToken } from './token-files.ts'

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
    let token = await (role === 'operator' ? findOperatorToken : findToken)(asked, agentAbove)
    if (role === 'operator') token = await workingKey(token, place)
    found(token)
    return new MailClient({ ...route, token: token.token })
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'which_account') await anonymous(place).health()
    throw error
  }
}

/** Two files may hold the secret of the first start's operator: that of `rotate`, and the first one. The one that works is it. */
async function workingKey(token: FoundToken, place: Place): Promise<FoundToken> {
  const path = join(place.dataDir, 'operator.key')
  if (token.account !== OPERATOR || token.path === path) return token
  const first = readToken(path)
  if (first === null) return token
  const client = new MailClient({ ...routeTo(place), token: token.token })
  try {
    await client.call('whoami', {})
    return token
  } catch (error) {
    if (!(error instanceof Refusal) || error.kind !== 'unauthenticated') throw error
    return { ...token, token: first, path }
  } finally {
    client.close()
  }
}

/** Without an account: for what the mailbox tells everybody. */
export const anonymous = (place: Place): MailClient => new MailClient({ ...routeTo(place), token: '' })
