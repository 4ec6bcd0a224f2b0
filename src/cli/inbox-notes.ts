// What stands beside a listed inbox, on stderr: how much is unread, and mail that nobody reads any more.
import type { InboxAnswer } from '../wire/answers.ts'
import type { Context } from './context.ts'

export function inboxNotes(context: Context, { messages, unread, orphaned }: InboxAnswer): void {
  if (messages.length === 0) context.say(unread === 0 ? 'no mail' : `nothing here; ${unread} not closed`)
  else context.say(`${unread} not closed`)
  if (orphaned !== undefined && orphaned.count > 0)
    context.say(
      `${orphaned.count} sent to sessions of yours that have ended; an operator may release them: mail4agent admin orphans list`,
    )
}
