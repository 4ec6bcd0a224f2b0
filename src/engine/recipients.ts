// Resolving addresses: every address that a send names becomes mailboxes, or a refusal of its own.
import { type AccountRow, KIND, type Recipient, type SessionRow } from '../store/rows.ts'
import { type Address, type AddressInput, formatAddress, toAddress } from '../wire/address.ts'
import { canonical } from '../wire/names.ts'
import { denied, Refusal } from '../wire/refusal.ts'
import { machineNamed } from './link.ts'
import type { Caller, Mail } from './mail.ts'
import { findSession } from './session.ts'
import { knownAccount, maySee, meant, visibleAccount } from './visible.ts'
import { sessionAddress } from './who.ts'

/** What became of one address. `all`: it is one of those that @all stands for. */
export type Resolved = {
  to: Address
  text: string
  all: boolean
  deliveries: Recipient[]
  refusal: Refusal | null
}

/** The address of everybody else; not an account. */
export const ALL = '@all'
const isAll = (input: AddressInput): boolean => typeof input === 'string' && input.toLowerCase() === ALL

/**
 * An address as it is written, without case and in its compact form; nothing is looked up.
 * @throws Refusal `malformed` for a text that is no address
 */
export const spelling = (input: AddressInput): string =>
  isAll(input) ? ALL : canonical(formatAddress(toAddress(input)))

/**
 * Each address once, in the order given; what means the same mailbox is merged into its first spelling. `answering`: the
 * addresses are those of a letter that the caller answers, so whom they name is known to it.
 * @throws Refusal `malformed` for a text that is no address, `permission_denied` for @all without `operator`
 */
export function resolve(mail: Mail, caller: Caller, inputs: readonly AddressInput[], answering = false): Resolved[] {
  const found = new Map<string, Resolved>()
  for (const input of inputs)
    for (const one of isAll(input)
      ? everybody(mail, caller)
      : [resolveOne(mail, caller, toAddress(input), answering)]) {
      const key = canonical(one.text)
      if (!found.has(key)) found.set(key, one)
    }
  return [...found.values()]
}

/**
 * One delivery for each mailbox. Mail to an account stays its own although a room brings it too: leaving the room must not take
 * it away, and the order of recipients says nothing. A session needs none of its own where its account gets the message anyway:
 * it would have to acknowledge the same message twice.
 */
export function deliveriesOf(resolved: readonly Resolved[]): Recipient[] {
  if (resolved.length === 1) return resolved[0]?.deliveries ?? []
  const boxes = new Map<number, Recipient>()
  const accounts = new Set<number>()
  for (const { deliveries } of resolved)
    for (const to of deliveries) {
      if (!boxes.has(to.box) || to.kind === KIND.account) boxes.set(to.box, to)
      if (to.kind !== KIND.session) accounts.add(to.account)
    }
  return [...boxes.values()].filter((to) => to.kind !== KIND.session || !accounts.has(to.account))
}

function everybody(mail: Mail, caller: Caller): Resolved[] {
  if (!caller.account.can.operator) throw denied('operator')
  return mail.store.registry
    .accounts()
    .filter((account) => account.id !== caller.account.id && maySee(mail, caller, account))
    .map((account) => ({ ...direct(account), all: true }))
}

function resolveOne(mail: Mail, caller: Caller, asked: Address, answering: boolean): Resolved {
  try {
    const address = answering ? asked : meant(mail, caller, asked)
    if (address.machine !== undefined) return remote(mail, caller, address, address.machine)
    if (address.kind === 'room') return room(mail, caller, address.room)
    const account = answering
      ? knownAccount(mail, address.participant)
      : visibleAccount(mail, caller, address.participant)
    return address.kind === 'direct' ? direct(account) : session(mail, caller, account, address.session)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { to: asked, text: formatAddress(asked), all: false, deliveries: [], refusal: error }
  }
}

/** A mailbox on another machine, as `link.prepare` made it. @throws Refusal `unknown_machine` */
function remote(mail: Mail, caller: Caller, address: Address, name: string): Resolved {
  const machine = machineNamed(mail, name)
  const participant = address.kind === 'room' ? `#${address.room}` : address.participant
  const account = mail.store.registry.account(`${participant}@${machine}`)
  if (!account) throw new Refusal('unknown_participant', `nothing was ever sent to ${formatAddress(address)}`)
  const to: Address = { ...address, machine }
  const text = formatAddress(to)
  if (address.kind !== 'session')
    return accepted(to, [{ text, kind: KIND.account, box: account.box, account: account.id, room: 0 }])
  const { box } = findSession(mail, caller, account, address.session)
  return accepted(to, [{ text, kind: KIND.session, box, account: account.id, room: 0 }])
}

function direct(account: AccountRow): Resolved {
  const { name, id, box } = account
  return accepted({ kind: 'direct', participant: name }, [
    { text: name, kind: KIND.account, box, account: id, room: 0 },
  ])
}

function session(mail: Mail, caller: Caller, account: AccountRow, id: string): Resolved {
  const holder = successorOf(mail, findSession(mail, caller, account, id))
  const to = sessionAddress(account, holder)
  const text = formatAddress(to)
  return accepted(to, [{ text, kind: KIND.session, box: holder.box, account: account.id, room: 0 }])
}

/** The session that has the mailbox now: a successor took over its predecessor's. */
function successorOf(mail: Mail, session: SessionRow): SessionRow {
  if (session.successor === null) return session
  return mail.store.registry.sessionByBox(session.box) ?? session
}

function room(mail: Mail, caller: Caller, name: string): Resolved {
  const { registry } = mail.store
  const row = registry.room(name)
  if (!row) throw new Refusal('unknown_room', `no room ${name}`, { room: name })
  if (!registry.isMember(row.id, caller.account.id))
    throw new Refusal('not_a_member', `${caller.account.name} is no member of #${row.name}`, { room: row.name })
  const text = `#${row.name}`
  const deliveries: Recipient[] = []
  for (const id of registry.members(row.id)) {
    const member = registry.accountById(id)
    if (member) deliveries.push({ text, kind: KIND.room, box: member.box, account: id, room: row.id })
  }
  return accepted({ kind: 'room', room: row.name }, deliveries)
}

function accepted(to: Address, deliveries: Recipient[]): Resolved {
  return { to, text: formatAddress(to), all: false, deliveries, refusal: null }
}
