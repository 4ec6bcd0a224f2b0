// The text that an agent is started with: the work item of its letter, or the call to look at its mail.
import { readFragment } from '../../engine/fragment.ts'
import { isFromMailbox } from '../../engine/system.ts'
import type { AttemptRow, DispatchRow, Profile } from '../../store/dispatch/rows.ts'
import type { MessageRow } from '../../store/rows.ts'
import type { Store } from '../../store/store.ts'
import { messageId } from '../../wire/names.ts'
import { type Before, type Letter, mailCall, workItem } from '../envelope.ts'
import { CAUSE_TEXT } from './classify.ts'

/** A stored message as it is shown to an agent. */
export function letterOf(store: Store, message: MessageRow): Letter {
  const stored: ReturnType<typeof readFragment> & { on_behalf_of?: string } = readFragment(message.json)
  const account = store.registry.accountById(message.account)
  return {
    id: messageId(message.id, message.random),
    thread: stored.thread,
    from: stored.from_text,
    sender: isFromMailbox(stored) ? 'mailbox' : account?.kind === 'person' ? 'person' : 'agent',
    onBehalfOf: stored.on_behalf_of ?? null,
    subject: stored.subject,
    body: stored.body,
    sentAt: stored.created_at,
  }
}

export function promptFor(store: Store, row: DispatchRow, profile: Profile, before: readonly AttemptRow[]): string {
  const done = before.filter(({ cause }) => cause !== 'not_started')
  const cause = done.at(-1)?.cause
  const again: Before | null =
    cause == null ? null : { attempt: done.length + 1, of: profile.attempts, cause: CAUSE_TEXT[cause] }
  const message = row.message === null ? null : store.message(row.message)
  if (message) return workItem(letterOf(store, message), again)
  const account = store.registry.accountById(row.agent)
  const by = store.registry.accountById(row.by)?.name ?? 'unknown'
  return mailCall(by, account ? store.openCount(account.box) : 0, again)
}
