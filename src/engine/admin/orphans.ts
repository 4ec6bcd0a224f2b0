// Mail of sessions that ended without a successor: shown to the operator, who may give it to the account.
import type { AdminAnswer, AdminRequest } from '../../wire/admin.ts'
import { messageId } from '../../wire/names.ts'
import { Refusal } from '../../wire/refusal.ts'
import type { Mail } from '../mail.ts'
import { knownAccount, knownSession } from './known.ts'

export async function listOrphans(
  mail: Mail,
  request: AdminRequest<'orphan/list'>,
): Promise<AdminAnswer<'orphan/list'>> {
  const account = request.account == null ? null : knownAccount(mail, request.account)
  await endGone(mail, account?.id ?? null)
  const orphans = mail.store.orphanedSessions(account?.id ?? null).flatMap((session) => {
    const owner = mail.store.registry.accountById(session.account)
    const { count, ids } = mail.store.orphans(session.box, 1)
    const first = ids[0] === undefined ? null : mail.store.message(ids[0])
    if (!owner || owner.kind === 'remote' || !first) return []
    return { account: owner.name, session: session.name, count, oldest: messageId(first.id, first.random) }
  })
  return { orphans }
}

/**
 * The open letters of that session become letters of its account.
 * @throws Refusal `not_orphaned` while the session lives, or where a successor has them
 */
export async function releaseOrphans(
  mail: Mail,
  request: AdminRequest<'orphan/release'>,
): Promise<AdminAnswer<'orphan/release'>> {
  const account = knownAccount(mail, request.account)
  await endGone(mail, account.id)
  const session = knownSession(mail, account, request.session)
  if (session.ended === null || session.successor !== null)
    throw new Refusal(
      'not_orphaned',
      session.ended === null ? `${session.name} still runs` : `a later session has the mail of ${session.name}`,
      { session: session.name },
    )
  return { released: await mail.store.release(session) }
}

/** The sweep may be seconds behind the kernel; what is shown here is not. */
async function endGone(mail: Mail, account: number | null): Promise<void> {
  for (const session of [...mail.store.registry.liveSessions()])
    if ((account === null || session.account === account) && !mail.alive(session)) await mail.store.endSession(session)
}
