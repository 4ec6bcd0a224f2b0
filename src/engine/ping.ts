// ping: is anybody reading that mailbox? Answered by the mailbox itself, without a turn of the agent.
import { KIND, type SessionRow } from '../store/rows.ts'
import { type Address, formatAddress, toAddress } from '../wire/address.ts'
import type { PingAnswer } from '../wire/answers.ts'
import { malformed, Refusal } from '../wire/refusal.ts'
import type { PingRequest } from '../wire/requests.ts'
import { rfc3339, rfc3339OrNull } from '../wire/time.ts'
import { drainWarning, isLive, type Mailbox } from './drained.ts'
import { ageOf } from './letter.ts'
import type { Caller, Mail } from './mail.ts'
import { findSession } from './session.ts'
import { boxCount } from './unread.ts'
import { meant, visibleAccount } from './visible.ts'
import { sessionAddress } from './who.ts'

/** @throws Refusal `malformed` with field `target` for a room, and those of an address that is nobody's */
export function ping(mail: Mail, caller: Caller, request: PingRequest): PingAnswer {
  const { target, mailbox, sessions, seen } = mailboxOf(mail, caller, meant(mail, caller, toAddress(request.target)))
  const now = mail.now()
  const { unread, oldest } = boxCount(mail, mailbox.box)
  const answer: PingAnswer = {
    target,
    target_text: formatAddress(target),
    live_sessions: sessions.filter((session) => isLive(mail, session)).length,
    last_seen: rfc3339OrNull(seen),
    unread,
    oldest_unread_age_secs: oldest === null ? null : ageOf(oldest, now),
    waiting: mail.parking.parked(mailbox.box),
    now: rfc3339(now),
  }
  const warning = drainWarning(mail, mailbox)
  if (warning !== undefined) answer.warning = warning
  return answer
}

/** `seen`: when any of its sessions was, in milliseconds since the epoch. */
type Found = { target: Address; mailbox: Mailbox; sessions: readonly SessionRow[]; seen: number | null }

function mailboxOf(mail: Mail, caller: Caller, asked: Address): Found {
  if (asked.kind === 'room') throw malformed('target', 'is a room; name an account or a session')
  if (asked.machine !== undefined)
    throw new Refusal('unknown_machine', `no machine ${asked.machine}`, { machine: asked.machine })
  const account = visibleAccount(mail, caller, asked.participant)
  if (asked.kind === 'session') {
    const session = findSession(mail, caller, account, asked.session)
    const mailbox = { box: session.box, account: account.id, kind: KIND.session }
    return { target: sessionAddress(account, session), mailbox, sessions: [session], seen: session.lastSeen }
  }
  return {
    target: { kind: 'direct', participant: account.name },
    mailbox: { box: account.box, account: account.id, kind: KIND.account },
    sessions: mail.store.registry.sessionsOf(account.id, mail.now()),
    seen: mail.store.people.lastSeen(account.id),
  }
}
