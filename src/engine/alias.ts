// alias: an address under a name of the account's own. It stands for that address wherever the account names one.
import { formatAddress, toAddress } from '../wire/address.ts'
import { LIMITS } from '../wire/limits.ts'
import { canonical } from '../wire/names.ts'
import type { AliasAnswer, AliasRequest } from '../wire/people.ts'
import { malformed, Refusal } from '../wire/refusal.ts'
import { rfc3339 } from '../wire/time.ts'
import type { Caller, Mail } from './mail.ts'
import { maySee } from './visible.ts'

/**
 * Sets, replaces or removes one; with neither `address` nor `remove` nothing. The address is not looked up: whom it reaches is
 * said when it is used.
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
  } else {
    if (known === undefined) throw new Refusal('unknown_participant', `no alias ${name}`, { participant: name })
    await people.setAlias(account, name, null)
  }
  return { aliases: [...people.aliases(account.id)], now: rfc3339(mail.now()) }
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
