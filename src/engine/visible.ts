// Whom a caller sees, and whom it means: private accounts are absent for who may not see them, own aliases stand for addresses.
import { SYSTEM } from '../store/people/people.ts'
import type { AccountRow } from '../store/rows.ts'
import { type Address, parseAddress } from '../wire/address.ts'
import { canonical } from '../wire/names.ts'
import { Refusal } from '../wire/refusal.ts'
import type { Caller, Mail } from './mail.ts'

/**
 * A private account is seen by operators, by its room mates, by whom it wrote to, and by those on its list. For everybody else
 * there is no such account, at any door.
 */
export function maySee(mail: Mail, { account }: Caller, other: AccountRow): boolean {
  const { people, registry } = mail.store
  if (!people.isPrivate(other.id) || other.id === account.id || account.can.operator) return true
  if (people.isKnownTo(other.id, account.id)) return true
  return registry.roomsOf(other.id).some((room) => registry.isMember(room.id, account.id))
}

/** Members of a room, those that the caller sees, by name. */
export function visibleMembers(mail: Mail, caller: Caller, room: number): AccountRow[] {
  const { registry } = mail.store
  return registry
    .members(room)
    .map((id) => registry.accountById(id))
    .filter((member) => member !== undefined)
    .filter((member) => maySee(mail, caller, member))
    .sort((a, b) => a.name.localeCompare(b.name, 'en'))
}

/** @throws Refusal `unknown_participant` */
export function knownAccount(mail: Mail, name: string): AccountRow {
  const account = mail.store.registry.account(name)
  if (!account) throw unknown(name)
  return account
}

/** @throws Refusal `unknown_participant`, the same for one that does not exist and one that the caller does not see */
export function visibleAccount(mail: Mail, caller: Caller, name: string): AccountRow {
  const account = knownAccount(mail, name)
  if (!maySee(mail, caller, account)) throw unknown(name)
  return account
}

const unknown = (name: string): Refusal =>
  canonical(name) === SYSTEM
    ? new Refusal('unknown_participant', `${name} is the mailbox itself and reads no mail`, { participant: name })
    : new Refusal('unknown_participant', `no account ${name}`, { participant: name })

/**
 * What the caller means by an address: an alias of its own stands for the address that it was given.
 * @throws Refusal `ambiguous_alias` where an account has come by that name since
 */
export function meant(mail: Mail, caller: Caller, address: Address): Address {
  if (address.kind !== 'direct' || address.machine !== undefined) return address
  const { people, registry } = mail.store
  const alias = people.alias(caller.account.id, address.participant)
  if (alias === undefined) return address
  const account = registry.account(address.participant)
  if (account && maySee(mail, caller, account))
    throw new Refusal('ambiguous_alias', `${account.name} is an account and an alias of yours for ${alias}`, {
      alias: address.participant,
      address: alias,
    })
  return parseAddress(alias)
}
