// Is anybody draining a mailbox? The warning that a send answer, a receipt or a ping carries where nobody seems to.
import { KIND, type Kind, type SessionRow } from '../store/rows.ts'
import type { Store } from '../store/store.ts'
import { LIMITS } from '../wire/limits.ts'
import { ageOf } from './letter.ts'
import type { Mail } from './mail.ts'

/** A mailbox that mail goes to: an account's or a session's. */
export type Mailbox = { readonly box: number; readonly account: number; readonly kind: Kind }

/** Asking the kernel and the disk about one mailbox once a second is often enough for a warning. */
const FRESH_MS = 1000
const REMEMBERED = 10_000
type Known = { readonly at: number; readonly warning: string | undefined }
const memory = new WeakMap<Store, Map<number, Known>>()

function memoryOf(store: Store): Map<number, Known> {
  let known = memory.get(store)
  if (!known) {
    known = new Map()
    memory.set(store, known)
  }
  return known
}

/** Why mail to that box may lie there unread, or undefined. At most a second old. */
export function drainWarning(mail: Mail, mailbox: Mailbox): string | undefined {
  const known = memoryOf(mail.store)
  const now = mail.now()
  const last = known.get(mailbox.box)
  if (last && Math.abs(now - last.at) < FRESH_MS) return last.warning
  if (known.size >= REMEMBERED) known.clear()
  const warning = mailbox.kind === KIND.session ? sessionWarning(mail, mailbox) : accountWarning(mail, mailbox)
  const result = warning ?? oldestWarning(mail, mailbox.box, now)
  known.set(mailbox.box, { at: now, warning: result })
  return result
}

/** A room is drained as long as one of its other members is. */
export function roomWarning(mail: Mail, members: readonly Mailbox[], sender: number): string | undefined {
  const others = members.filter((member) => member.account !== sender)
  if (others.length === 0) return 'the room has no other member'
  if (others.some((member) => drainWarning(mail, member) === undefined)) return undefined
  return 'no member of the room seems to read its mail now'
}

export const isLive = (mail: Mail, session: SessionRow): boolean => session.ended === null && mail.alive(session)

/** The sessions of an account whose process exists. */
export const liveSessions = (mail: Mail, account: number): SessionRow[] =>
  mail.store.registry.sessionsOf(account, Number.MAX_SAFE_INTEGER).filter((session) => isLive(mail, session))

function accountWarning(mail: Mail, mailbox: Mailbox): string | undefined {
  const sessions = mail.store.registry.sessionsOf(mailbox.account, Number.MAX_SAFE_INTEGER)
  if (sessions.some((session) => isLive(mail, session))) return undefined
  return 'the account has no live session; the message waits for the next one'
}

function sessionWarning(mail: Mail, mailbox: Mailbox): string | undefined {
  const session = mail.store.registry.sessionByBox(mailbox.box)
  if (session && isLive(mail, session)) return undefined
  return 'that session has ended; unless it is resumed only the operator can release the message to its account'
}

function oldestWarning(mail: Mail, box: number, now: number): string | undefined {
  const oldest = mail.store.oldestOpen(box)
  const age = oldest ? ageOf(oldest.created, now) : 0
  return age > LIMITS.undrained
    ? `the oldest message there has been waiting for ${Math.floor(age / 60)} min`
    : undefined
}
