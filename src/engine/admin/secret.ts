// Bearer secrets: 32 random bytes in hex, of which the mailbox keeps the SHA-256 alone.
import { randomBytes } from 'node:crypto'

/** A new bearer secret or signing key: 64 lower-case hex digits. */
export const newSecret = (): string => randomBytes(32).toString('hex')

/** SHA-256 of a secret's UTF-8 bytes, 64 lower-case hex digits: what the store keeps and `digest` in a request holds. */
export const digestOf = (secret: string): string => Bun.SHA256.hash(secret, 'hex')
