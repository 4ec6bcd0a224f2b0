// Addresses: an account, one of its sessions, a room; each also on another machine. Tagged object and compact text, both accepted.
import { type Static, Type } from '@sinclair/typebox'
import { LIMITS } from './limits.ts'
import { canonical, isName, Name, SessionId } from './names.ts'
import { malformed } from './refusal.ts'

const closed = { additionalProperties: false }
const machine = { machine: Type.Optional(Name) }

export const DirectAddress = Type.Object({ kind: Type.Literal('direct'), participant: Name, ...machine }, closed)
export const SessionAddress = Type.Object(
  { kind: Type.Literal('session'), participant: Name, session: SessionId, ...machine },
  closed,
)
export const RoomAddress = Type.Object({ kind: Type.Literal('room'), room: Name, ...machine }, closed)

/** The tagged object: what every answer carries. */
export const Address = Type.Union([DirectAddress, SessionAddress, RoomAddress])
export type Address = Static<typeof Address>
export type DirectAddress = Static<typeof DirectAddress>
export type SessionAddress = Static<typeof SessionAddress>
export type RoomAddress = Static<typeof RoomAddress>

/** `claude` · `claude/s-7f3a…` · `#build`, each with `@machine` after the name; one leading `@` is tolerated. */
export const CompactAddress = Type.String({
  minLength: 1,
  maxLength: 2 * LIMITS.name + 80,
  description: 'account, account/s-session or #room; @machine after the name for another machine',
})

/** What a request may say where it means an address. */
export const AddressInput = Type.Union([CompactAddress, Address])
export type AddressInput = Static<typeof AddressInput>

const SESSION = /^s-[0-9a-f]{4,64}$/
const bad = (text: string, reason: string) => malformed('address', `${JSON.stringify(text.slice(0, 200))} ${reason}`)

/**
 * Reads a compact address.
 * @throws Refusal `malformed` with field `address` when the text is none
 */
export function parseAddress(text: string): Address {
  if (text.startsWith('#')) {
    const { name, machine } = splitMachine(text.slice(1), text)
    return { kind: 'room', room: name, ...machine }
  }
  const plain = text.startsWith('@') ? text.slice(1) : text
  const slash = plain.indexOf('/')
  const { name, machine } = splitMachine(slash < 0 ? plain : plain.slice(0, slash), text)
  if (slash < 0) return { kind: 'direct', participant: name, ...machine }
  const session = plain.slice(slash + 1)
  if (!SESSION.test(session)) throw bad(text, 'has no session id after the slash (s- and 4 or more hex digits)')
  return { kind: 'session', participant: name, session, ...machine }
}

function splitMachine(part: string, whole: string): { name: string; machine: { machine?: string } } {
  const at = part.indexOf('@')
  const name = at < 0 ? part : part.slice(0, at)
  if (!isName(name)) throw bad(whole, 'is no address: names are 1 to 128 of A-Z a-z 0-9 . _ + -')
  if (at < 0) return { name, machine: {} }
  const machine = part.slice(at + 1)
  if (!isName(machine)) throw bad(whole, 'has no machine name after the @')
  return { name, machine: { machine } }
}

/** The compact text of an address; `parseAddress` gives it back. */
export function formatAddress(address: Address): string {
  const at = address.machine === undefined ? '' : `@${address.machine}`
  if (address.kind === 'room') return `#${address.room}${at}`
  return address.kind === 'direct' ? `${address.participant}${at}` : `${address.participant}${at}/${address.session}`
}

/** Either form to the tagged one. */
export const toAddress = (input: AddressInput): Address => (typeof input === 'string' ? parseAddress(input) : input)

/** Do two addresses mean the same mailbox? Names without case; machines too. */
export const sameAddress = (a: Address, b: Address): boolean =>
  canonical(formatAddress(a)) === canonical(formatAddress(b))
