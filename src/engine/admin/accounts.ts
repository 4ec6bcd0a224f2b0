// Accounts: create, change, list, rotate, remove. A secret is shown once, and only where we made it.

import { SYSTEM } from '../../store/people/people.ts'
import { type AccountRow, NO_RIGHTS } from '../../store/rows.ts'
import type { AccountChange } from '../../store/store.ts'
import type { Account, AdminAnswer, AdminRequest } from '../../wire/admin.ts'
import { LIMITS } from '../../wire/limits.ts'
import { canonical } from '../../wire/names.ts'
import type { Capability } from '../../wire/operations.ts'
import { malformed, Refusal } from '../../wire/refusal.ts'
import { checkLine } from '../../wire/text.ts'
import { rfc3339 } from '../../wire/time.ts'
import type { Mail } from '../mail.ts'
import { knownAccount } from './known.ts'
import { pageByName } from './paging.ts'
import { digestOf, newSecret } from './secret.ts'

type Flags = Pick<
  AdminRequest<'participant/set'>,
  'may_send' | 'may_read' | 'may_dispatch' | 'may_behalf' | 'may_chat' | 'operator'
>

/** The capabilities that a request names; null is as good as absent. */
function given(flags: Flags): Partial<Record<Capability, boolean>> {
  const named = {
    send: flags.may_send,
    read: flags.may_read,
    dispatch: flags.may_dispatch,
    behalf: flags.may_behalf,
    chat: flags.may_chat,
    operator: flags.operator,
  }
  const can: Partial<Record<Capability, boolean>> = {}
  for (const [name, value] of Object.entries(named)) if (typeof value === 'boolean') can[name as Capability] = value
  return can
}

/** An empty label is none. */
function label(text: string | null | undefined): string | null {
  if (text == null || text === '') return null
  checkLine('label', text, LIMITS.label)
  return text
}

/** A digest names one account: a second account with the same secret would be the first one. */
function credential(mail: Mail, asked: string | null | undefined, owner: AccountRow | null) {
  if (asked == null) {
    const secret = newSecret()
    return { digest: digestOf(secret), shown: { secret } }
  }
  const holder = mail.store.registry.accountByDigest(asked)
  if (holder && holder.id !== owner?.id) throw malformed('digest', 'belongs to another account')
  return { digest: asked, shown: {} }
}

/**
 * Without any capability flag the account may send and read; with one, what is not named is false.
 * @throws Refusal `name_taken`: an existing account is never answered with a secret
 */
export async function addAccount(
  mail: Mail,
  request: AdminRequest<'participant'>,
): Promise<AdminAnswer<'participant'>> {
  const named = given(request)
  const can = Object.keys(named).length === 0 ? { ...NO_RIGHTS, send: true, read: true } : { ...NO_RIGHTS, ...named }
  const text = label(request.label)
  const hidden = privacyOf(mail, request)
  if (canonical(request.id) === SYSTEM)
    throw new Refusal('name_taken', `${request.id} is the mailbox itself`, { participant: request.id })
  const taken = mail.store.registry.account(request.id)
  if (taken) throw new Refusal('name_taken', `the account ${taken.name} exists`, { participant: taken.name })
  const { digest, shown } = credential(mail, request.digest, null)
  const kind = request.kind ?? 'agent'
  const account = await mail.store.addAccount({ name: request.id, label: text, kind, can, digest })
  if (hidden) await mail.store.people.setPrivacy(account, hidden)
  return { id: account.name, ...shown }
}

type Privacy = Pick<AdminRequest<'participant/set'>, 'private' | 'visible_to'>

/** Null where nothing is said of it. @throws Refusal `unknown_participant` for a name on the list */
function privacyOf(mail: Mail, request: Privacy): { private?: boolean; listed?: number[] } | null {
  if (request.private == null && request.visible_to == null) return null
  return {
    ...(request.private == null ? {} : { private: request.private }),
    ...(request.visible_to == null ? {} : { listed: request.visible_to.map((name) => knownAccount(mail, name).id) }),
  }
}

/** Changes only what is given; `label: ""` clears the label. */
export async function setAccount(mail: Mail, request: AdminRequest<'participant/set'>): Promise<Account> {
  const account = knownAccount(mail, request.id)
  const can = given(request)
  if (can.operator === false) keepAnOperator(mail, account)
  const change: AccountChange = { can }
  if (request.label != null) change.label = label(request.label)
  if (request.kind != null) change.kind = request.kind
  const hidden = privacyOf(mail, request)
  const changed = await mail.store.changeAccount(account, change)
  if (hidden) await mail.store.people.setPrivacy(account, hidden)
  mail.parking.wake(account.box)
  return describe(mail, changed)
}

export function listAccounts(mail: Mail, request: AdminRequest<'participant/list'>): AdminAnswer<'participant/list'> {
  const { rows, has_more, after } = pageByName(mail.store.registry.accounts(), request)
  return { accounts: rows.map((account) => describe(mail, account)), has_more, after }
}

/** The old secret ends with this answer. */
export async function rotateAccount(
  mail: Mail,
  request: AdminRequest<'participant/rotate'>,
): Promise<AdminAnswer<'participant/rotate'>> {
  const account = knownAccount(mail, request.id)
  const { digest, shown } = credential(mail, request.digest, account)
  await mail.store.changeAccount(account, { digest })
  mail.parking.wake(account.box)
  return { id: account.name, ...shown }
}

/** Its mail stays with the removed account: a later account of that name is another one. */
export async function removeAccount(
  mail: Mail,
  request: AdminRequest<'participant/remove'>,
): Promise<AdminAnswer<'participant/remove'>> {
  const account = knownAccount(mail, request.id)
  keepAnOperator(mail, account)
  await mail.store.removeAccount(account)
  mail.parking.wake(account.box)
  return {}
}

function keepAnOperator(mail: Mail, account: AccountRow): void {
  if (!account.can.operator) return
  if (mail.store.registry.accounts().some((other) => other.can.operator && other.id !== account.id)) return
  throw new Refusal('last_operator', `${account.name} is the only operator`, { participant: account.name })
}

function describe(mail: Mail, account: AccountRow): Account {
  const { registry, people } = mail.store
  return {
    id: account.name,
    label: account.label,
    kind: account.kind,
    may_send: account.can.send,
    may_read: account.can.read,
    may_dispatch: account.can.dispatch,
    may_behalf: account.can.behalf,
    may_chat: account.can.chat === true,
    operator: account.can.operator,
    private: people.isPrivate(account.id),
    visible_to: people.listed(account.id).flatMap((id) => registry.accountById(id)?.name ?? []),
    rooms: registry.roomsOf(account.id).map((room) => room.name),
    listener: registry.listener(account.id)?.url ?? null,
    created_at: rfc3339(account.created),
  }
}
