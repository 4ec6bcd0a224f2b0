// What has been closed for long enough to go: told, or removed. Mail that nobody has acknowledged never goes.
import type { AdminAnswer, AdminRequest } from '../../wire/admin.ts'
import { canonical } from '../../wire/names.ts'
import { rfc3339, rfc3339OrNull } from '../../wire/time.ts'
import type { Mail } from '../mail.ts'

/** With `run` it is removed: a conversation at a time, in short writes between those of others, each before or after a crash. */
export async function retention(mail: Mail, request: AdminRequest<'retention'>): Promise<AdminAnswer<'retention'>> {
  const { keeping, registry } = mail.store
  const removed = request.run ?? false
  const now = mail.now()
  const found = await (removed ? keeping.retain(now) : keeping.plan(now))
  const accounts = [...found.accounts].map(([id, { going, notClosed, tooYoung }]) => ({
    account: registry.accountById(id)?.name ?? null,
    going,
    kept_not_closed: notClosed,
    kept_too_young: tooYoung,
  }))
  return {
    removed,
    closed_days: keeping.policy.closedDays,
    events_days: keeping.policy.eventsDays,
    messages: found.messages,
    conversations: found.conversations,
    bytes: found.bytes,
    events: found.events,
    oldest_closed_at: rfc3339OrNull(found.oldest),
    newest_closed_at: rfc3339OrNull(found.newest),
    accounts: accounts.sort((a, b) => (canonical(a.account ?? '') < canonical(b.account ?? '') ? -1 : 1)),
    now: rfc3339(now),
  }
}
