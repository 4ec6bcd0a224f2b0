// Is anybody draining a mailbox? The warning that a send answer, a receipt or a ping carries where nobody seems to.
import { KIND, type Kind, type SessionRow } from '../store/rows.ts'
import type { Store } from '../store/store.ts'
import { LIMITS } from '../wire/limits.ts'
import { ageOf } from './letter.ts'
import type { Mail } from './mail.ts'

/** A mailbox that mail goes to: an account's or a session's. */
export type Mailbox = { readonly box: number; readonly account: number; readonly kind: Kind }

/** A mailbox that is drained: asking the kernel and the disk about it once a second is often enough. */
const FRESH_MS = 1000
const REMEMBERED = 10_000
/** Box → when nothing was wrong with it. A warning is never remembered: it must not outlive its reason. */
const memory = new WeakMap<Store, Map<number, number>>()

function memoryOf(store: Store): Map<number, number> {
  let fine = memory.get(store)
  if (!fine) {
    fine = new Map()
    memory.set(store, fine)
  }
  return fine
}

/** Why mail to that box may lie there unread, as it is now; or undefined, which is at most a second old. */
export function drainWarning(mail: Mail, mailbox: Mailbox): string | undefined {
  const account = mail.store.registry.accountById(mailbox.account)
  if (account?.kind === 'remote') return mail.link?.warning(account)
  const fine = memoryOf(mail.store)
  const now = mail.now()
  const last = fine.get(mailbox.box)
  if (last !== undefined && Math.abs(now - last) < FRESH_MS) return undefined
  const warning = mailbox.kind === KIND.session ? sessionWarning(mail, mailbox) : accountWarning(mail, mailbox)
  const result = warning ?? oldestWarning(mail, mailbox.box, now)
  if (result !== undefined) fine.delete(mailbox.box)
  else {
    if (fine.size >= REMEMBERED) fine.clear()
    fine.set(mailbox.box, now)
  }
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

function accountWarning(mail: Mail, mailbox: Mailbox): string | undefined {
  if (mail.store.registry.someLive(mailbox.account, mail.alive)) return undefined
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
