// The accounts that `up` makes: one for each client and one for the person. Tokens are made here and lie in the data folder alone.
import { userInfo } from 'node:os'
import type { MailClient } from '../client/client.ts'
import { digestOf, newSecret } from '../engine/admin/secret.ts'
import { CLIENT_NAMES, type ClientName } from '../install/client.ts'
import { AGENT_CLIENTS } from '../install/clients/all.ts'
import type { Account } from '../wire/admin.ts'
import { canonical, isName } from '../wire/ids.ts'
import { LIMITS } from '../wire/limits.ts'
import { Refusal } from '../wire/refusal.ts'
import type { Io } from './io.ts'
import { OPERATOR, prepareToken, storedToken } from './token-files.ts'

export type Wanted = { name: string; kind: 'agent' | 'person'; label: string | null }

export async function allAccounts(operator: MailClient): Promise<Account[]> {
  const accounts: Account[] = []
  let after: string | null = null
  do {
    const page: { accounts: Account[]; has_more: boolean; after: string | null } = await operator.admin(
      'participant/list',
      { limit: LIMITS.pageMax, after },
    )
    accounts.push(...page.accounts)
    after = page.has_more ? page.after : null
  } while (after !== null)
  return accounts
}

export const accountOf = (client: ClientName): Wanted => ({
  name: client,
  kind: 'agent',
  label: AGENT_CLIENTS[client].title,
})

/**
 * The person's account: the one that an earlier `up` has made, while it is there, else one named like the user of this
 * machine. Without a list of accounts that one is taken to be there. Any other account is somebody else's, also where its token lies here.
 */
export function personOf(accounts: readonly Account[], made: string | null, io: Io): Wanted {
  const isThere = (name: string) =>
    accounts.some(({ id, kind }) => kind === 'person' && canonical(id) === canonical(name))
  return {
    name: made !== null && (accounts.length === 0 || isThere(made)) ? made : personName(accounts, io),
    kind: 'person',
    label: null,
  }
}

function personName(accounts: readonly Account[], { env }: Io): string {
  const user = env.USER || env.USERNAME || userInfo().username
  // without a variable the runtime may not know the name
  const agents = accounts.filter(({ kind }) => kind !== 'person').map(({ id }) => canonical(id))
  const taken = [OPERATOR, 'unknown', ...CLIENT_NAMES, ...agents].some((name) => name === canonical(user))
  return isName(user) && !taken ? user : 'me'
}

/**
 * Makes the account unless it is there. The token is on the disk before the mailbox knows it: cut off in between, the next run
 * goes on with that very token. True: it was made now.
 * @throws Refusal `which_account` for an account whose token is not on this machine
 */
export async function ensureAccount(
  operator: MailClient,
  accounts: readonly Account[],
  dataDir: string,
  { name, kind, label }: Wanted,
): Promise<boolean> {
  const known = accounts.some(({ id }) => canonical(id) === canonical(name))
  const token = storedToken(dataDir, name)
  if (known && token !== null) return false
  if (known)
    throw new Refusal(
      'which_account',
      `the account ${name} exists and its token is not here`,
      { account: name },
      `make a new one, which ends the old one: mail4agent admin account rotate ${name}`,
    )
  const secret = token ?? newSecret()
  if (token === null) prepareToken(dataDir, name, secret).keep()
  await operator.admin('participant', { id: name, digest: digestOf(secret), label, kind })
  return true
}
