// The forms of names and ids as TypeBox schemas: accounts, rooms, sessions, messages, cursors.
import { type Static, Type } from '@sinclair/typebox'
import { LIMITS } from './limits.ts'

export * from './ids.ts'

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
