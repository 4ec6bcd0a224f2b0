// unread: how much is not closed in a mailbox; one's own and one's account's for everyone, any other for operators.
import type { PageRow } from '../store/rows.ts'
import { type Address, toAddress } from '../wire/address.ts'
import type { UnreadAnswer } from '../wire/answers.ts'
import { canonical } from '../wire/names.ts'
import { denied, malformed, Refusal } from '../wire/refusal.ts'
import type { UnreadRequest } from '../wire/requests.ts'
import { rfc3339 } from '../wire/time.ts'
import { ageOf } from './letter.ts'
import type { Caller, Mail } from './mail.ts'
import { hasLetter, LOOKED_AT } from './page.ts'
import { findSession } from './session.ts'
import { knownAccount, meant } from './visible.ts'
import { addressOf, sessionAddress } from './who.ts'

type Count = { unread: number; oldest: number | null }

/**
 * Without a target: what the caller's inbox holds. A session's mail is not part of its account's count.
 * @throws Refusal `permission_denied`, `malformed` with field `target` for a room, `unknown_participant`, `unknown_session`
 */
export function unread(mail: Mail, caller: Caller, request: UnreadRequest): UnreadAnswer {
  const { account, session } = caller
  const asked = request.target == null ? addressOf(caller) : meant(mail, caller, toAddress(request.target))
  if (asked.kind === 'room') throw malformed('target', 'is a room; name an account or a session')
  const own = asked.machine === undefined && canonical(asked.participant) === canonical(account.name)
  const mine = own && (asked.kind === 'direct' || session.name.startsWith(asked.session))
  if (!mine && !account.can.operator) throw denied('operator')
  if (asked.machine !== undefined)
    throw new Refusal('unknown_machine', `no machine ${asked.machine}`, { machine: asked.machine })
  if (!mine) return answer(mail, ...other(mail, caller, asked))
  return asked.kind === 'session'
    ? answer(
        mail,
        addressOf(caller),
        ownCount(mail, caller, () => true),
      )
    : answer(mail, { kind: 'direct', participant: account.name }, accountCount(mail, caller))
}

function answer(mail: Mail, target: Address, { unread, oldest }: Count): UnreadAnswer {
  const now = mail.now()
  return { target, unread, oldest_age_secs: oldest === null ? null : ageOf(oldest, now), now: rfc3339(now) }
}

/** The oldest is null also where more than can be looked at lies before it. */
function ownCount(mail: Mail, caller: Pick<Caller, 'account' | 'session'>, counted: (row: PageRow) => boolean): Count {
  const { store } = mail
  const { account, session } = caller
  const unread = store.unread(account.box, session.box)
  if (unread === 0) return { unread, oldest: null }
  const rows = store.page({
    accountBox: account.box,
    sessionBox: session.box,
    which: 'open',
    after: 0,
    since: null,
    expect: 1,
  })
  let looked = 0
  for (const row of rows) {
    if (hasLetter(row) && counted(row)) return { unread, oldest: row.created }
    if (++looked === LOOKED_AT) break
  }
  return { unread, oldest: null }
}

/** The account's own part: without what lies in the session's box. */
export function accountCount(mail: Mail, caller: Pick<Caller, 'account' | 'session'>): Count {
  const { box } = caller.session
  const { unread, oldest } = ownCount(mail, caller, (row) => row.box !== box)
  return { unread: unread - mail.store.openCount(box), oldest }
}

function other(mail: Mail, caller: Caller, asked: Exclude<Address, { kind: 'room' }>): [Address, Count] {
  const account = knownAccount(mail, asked.participant)
  if (asked.kind === 'direct') return [{ kind: 'direct', participant: account.name }, boxCount(mail, account.box)]
  const session = findSession(mail, caller, account, asked.session)
  return [sessionAddress(account, session), boxCount(mail, session.box)]
}

/** What is not closed in one box. */
export const boxCount = (mail: Mail, box: number): Count => ({
  unread: mail.store.openCount(box),
  oldest: mail.store.oldestOpen(box)?.created ?? null,
})
