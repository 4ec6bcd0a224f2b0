// stats: figures of a mailbox. One's own for everyone, another account's for operators.

import type { AccountRow } from '../store/rows.ts'
import { DAY_MS } from '../store/tally.ts'
import { toAddress } from '../wire/address.ts'
import type { StatsAnswer, StatsRequest } from '../wire/people.ts'
import { denied, malformed } from '../wire/refusal.ts'
import { rfc3339 } from '../wire/time.ts'
import { flowByPeer } from './contacts.ts'
import { ageOf } from './letter.ts'
import type { Caller, Mail } from './mail.ts'
import { boxCount } from './unread.ts'
import { meant, visibleAccount } from './visible.ts'

const DAYS = 7
/** Copies of one state that are counted. */
const COUNTED = 100_000

/**
 * States are those of the account's own copies, without what lies in the boxes of single sessions; days are UTC.
 * @throws Refusal `permission_denied`, `malformed` with field `target`, `unknown_participant`
 */
export async function stats(mail: Mail, caller: Caller, request: StatsRequest): Promise<StatsAnswer> {
  const { people, registry } = mail.store
  const account = accountMeant(mail, caller, request)
  const now = mail.now()
  const first = Math.floor(now / DAY_MS) - (request.days ?? DAYS) + 1
  const rows = (await people.traffic(account.id)).filter((row) => row.day >= first && row.peer > 0)
  const states = people.counts([account.box], COUNTED)
  const { unread, oldest } = boxCount(mail, account.box)
  const names = (id: number) => registry.accountById(id)?.name
  return {
    target: account.name,
    states,
    ...(Object.values(states).some((count) => count >= COUNTED) ? { at_least: true } : {}),
    unread,
    oldest_unread_age_secs: oldest === null ? null : ageOf(oldest, now),
    since: rfc3339(first * DAY_MS),
    peers: [...flowByPeer(rows)]
      .flatMap(([id, { sent, heard }]) => (names(id) === undefined ? [] : [{ id: names(id) ?? '', sent, heard }]))
      .sort((a, b) => b.sent + b.heard - (a.sent + a.heard)),
    days: [...Map.groupBy(rows, (row) => row.day)].map(([day, all]) => ({
      day: rfc3339(day * DAY_MS).slice(0, 10),
      sent: all.reduce((sum, row) => sum + row.sent, 0),
      heard: all.reduce((sum, row) => sum + row.heard, 0),
    })),
    now: rfc3339(now),
  }
}

function accountMeant(mail: Mail, caller: Caller, { target }: StatsRequest): AccountRow {
  if (target == null) return caller.account
  const address = meant(mail, caller, toAddress(target))
  if (address.kind !== 'direct' || address.machine !== undefined) throw malformed('target', 'is no account')
  const account = visibleAccount(mail, caller, address.participant)
  if (account.id !== caller.account.id && !caller.account.can.operator) throw denied('operator')
  return account
}
