// The forms of names and ids: accounts, rooms, sessions, messages, cursors. TypeBox schemas and the checks that schemas cannot say.
import { type Static, Type } from '@sinclair/typebox'
import { LIMITS } from './limits.ts'

/** 1 to 128 bytes of `[A-Za-z0-9._+-]`, compared without case, kept as written. */
export const Name = Type.String({
  pattern: '^[A-Za-z0-9._+-]{1,128}$',
  maxLength: LIMITS.name,
  description: 'account or room name',
})
/** Also an account of another machine, as `name@machine`: letters name such, nobody here is called so. */
export const AnyName = Type.String({
  pattern: '^[A-Za-z0-9._+-]{1,128}(@[A-Za-z0-9._+-]{1,128})?$',
  maxLength: 2 * LIMITS.name + 1,
  description: 'account name; name@machine for one of another machine',
})
export const MessageId = Type.String({ pattern: '^m4a_[0-9a-f]{24}$', description: 'm4a_ and 24 hex digits' })
/** A whole id (32 hex) or a unique prefix of it, 4 hex or more. */
export const SessionId = Type.String({
  pattern: '^s-[0-9a-f]{4,64}$',
  description: 's- and 32 hex digits, or a unique prefix of 4 or more',
})
export const Cursor = Type.String({
  pattern: '^[0-9a-f]{8}\\.[0-9a-f]{1,12}$',
  description: 'from an earlier answer; the page starts after it',
})
export const Key = Type.String({
  minLength: 1,
  maxLength: LIMITS.key,
  pattern: '^[\\x21-\\x7e]+$',
  description: 'printable ASCII without spaces, 1 to 128 bytes',
})

export type MessageId = Static<typeof MessageId>
export type SessionId = Static<typeof SessionId>

const NAME = /^[A-Za-z0-9._+-]{1,128}$/
export const isName = (text: string): boolean => NAME.test(text)

export const isRemoteName = (text: string): boolean => {
  const at = text.indexOf('@')
  return at > 0 && isName(text.slice(0, at)) && isName(text.slice(at + 1))
}

/** The form under which names are compared: names are ASCII, so lower case is canonical. */
export const canonical = (name: string): string => name.toLowerCase()

const PAD = 0x1000000000000

/** `m4a_` + 12 hex of the store's sequence + 12 random hex: found by the sequence, not guessable. */
export function messageId(sequence: number, random: string): MessageId {
  // one digit more in front, cut off again, pads with zeros
  return `m4a_${(PAD + sequence).toString(16).slice(1)}${random}`
}

/** The sequence number inside a message id. */
export const sequenceOf = (id: MessageId): number => Number.parseInt(id.slice(4, 16), 16)
export const randomOf = (id: MessageId): string => id.slice(16)

export const cursorOf = (epoch: string, sequence: number): string => `${epoch}.${sequence.toString(16)}`

/** Epoch and sequence of a cursor that has the right form. */
export function parseCursor(cursor: string): { epoch: string; sequence: number } {
  const dot = cursor.indexOf('.')
  return { epoch: cursor.slice(0, dot), sequence: Number.parseInt(cursor.slice(dot + 1), 16) }
}
