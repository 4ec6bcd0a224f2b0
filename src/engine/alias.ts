// alias: an address under a name of the account's own. It stands for that address wherever the account names one.
import { type Address, formatAddress, toAddress } from '../wire/address.ts'
import { LIMITS } from '../wire/limits.ts'
import { canonical } from '../wire/names.ts'
import type { AliasAnswer, AliasRequest } from '../wire/people.ts'
import { malformed, Refusal } from '../wire/refusal.ts'
import { rfc3339 } from '../wire/time.ts'
import type { Caller, Mail } from './mail.ts'
import { knownRoom } from './rooms.ts'
import { maySee, visibleAccount } from './visible.ts'

/**
 * Sets, replaces or removes one; with neither `address` nor `remove` nothing. An address that leads nowhere is kept with a
 * warning: it may come to be.
 * @throws Refusal `malformed`, `name_taken` for the name of an account, `too_large` above the limit of aliases
 */
export async function alias(mail: Mail, caller: Caller, request: AliasRequest): Promise<AliasAnswer> {
  const { people } = mail.store
  const { account } = caller
  const { name } = request
  const known = people.alias(account.id, name)
  if (request.address != null && request.remove) throw malformed('remove', 'comes with an address')
  if (request.address == null && !request.remove) throw malformed('address', 'is missing')
  if (request.address != null) {
    const address = toAddress(request.address)
    checkFree(mail, caller, name)
    if (address.kind === 'direct' && address.machine === undefined && people.alias(account.id, address.participant))
      throw malformed('address', 'is an alias itself; name what it stands for')
    if (known === undefined && people.aliases(account.id).length >= LIMITS.aliases)
      throw new Refusal('too_large', `you have ${LIMITS.aliases} aliases`, { field: 'name', limit: LIMITS.aliases })
    await people.setAlias(account, name, formatAddress(address))
    const warning = leadsNowhere(mail, caller, address)
    if (warning !== null) return { ...answer(mail, caller), warning }
  } else {
    if (known === undefined) throw new Refusal('unknown_participant', `no alias ${name}`, { participant: name })
    await people.setAlias(account, name, null)
  }
  return answer(mail, caller)
}

const answer = (mail: Mail, { account }: Caller): AliasAnswer => ({
  aliases: [...mail.store.people.aliases(account.id)],
  now: rfc3339(mail.now()),
})

/** Null for what can be written to: a session that has ended counts, its account has its mail. */
function leadsNowhere(mail: Mail, caller: Caller, address: Address): string | null {
  try {
    if (address.kind === 'room') knownRoom(mail, address.room)
    else if (address.machine === undefined) visibleAccount(mail, caller, address.participant)
    return null
  } catch (error) {
    if (error instanceof Refusal) return error.message
    throw error
  }
}

/** Of an account that the caller does not see nothing may be learnt: then the alias is the caller's. */
function checkFree(mail: Mail, caller: Caller, name: string): void {
  const account = mail.store.registry.account(name)
  if (canonical(name) === 'all' || (account && maySee(mail, caller, account)))
    throw new Refusal(
      'name_taken',
      `${account?.name ?? name} is an address already`,
      { participant: name },
      'choose another name for the alias',
    )
}
