// Who of the sending account may read a sent message: every session, or only the one that wrote about its own session mail.
import { KIND, type Recipient } from '../store/rows.ts'
import type { Caller } from './mail.ts'
import type { Parent } from './reply.ts'

/**
 * 0, or the box of the sending session: for what it sends to a session of its own account, and for what answers session mail
 * of its own or continues such a conversation. A sibling's session mail and its thread are not a sibling's to read.
 */
export function scopeOf(caller: Caller, recipients: readonly Recipient[], parent: Parent | null): number {
  const { account, session } = caller
  if (parent) {
    if (parent.message.scope === session.box) return session.box
    if (parent.copy?.kind === KIND.session && parent.copy.box === session.box) return session.box
  }
  for (const to of recipients) if (to.kind === KIND.session && to.account === account.id) return session.box
  return 0
}
