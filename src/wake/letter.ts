// The text of a wake: made from letters as the store has them, of the newest in full, of the others how many there are.
import { readFragment } from '../engine/fragment.ts'
import type { Mail } from '../engine/mail.ts'
import { isFromMailbox } from '../engine/system.ts'
import type { AccountRow, MessageRow, SessionRow } from '../store/rows.ts'
import { KIND } from '../store/rows.ts'
import { messageId } from '../wire/names.ts'
import type { WakeLetter } from './adapter.ts'
import { type Letter, wakeText } from './envelope.ts'

/** A letter as the envelope wants it: the sender's account is looked up, not read. */
export function letterOf(mail: Mail, message: MessageRow): Letter {
  const stored = readFragment(message.json)
  const sender = mail.store.registry.accountById(message.account)
  const behalf: unknown = 'on_behalf_of' in stored ? stored.on_behalf_of : null
  return {
    id: messageId(message.id, message.random),
    thread: stored.thread,
    from: stored.from_text,
    sender: isFromMailbox(stored) ? 'mailbox' : sender?.kind === 'person' ? 'person' : 'agent',
    onBehalfOf: typeof behalf === 'string' ? behalf : null,
    subject: stored.subject,
    body: stored.body,
    sentAt: stored.created_at,
  }
}

/** `messages`: ascending, one at least. */
export function wakeLetter(
  mail: Mail,
  account: AccountRow,
  session: SessionRow | null,
  messages: readonly MessageRow[],
): WakeLetter {
  const newest = messages.at(-1)
  if (!newest) throw new Error('a wake without a letter')
  const letter = letterOf(mail, newest)
  const others = messages.length - 1
  const more =
    others === 0
      ? ''
      : `more:    ${others} other new letter${others === 1 ? '' : 's'}; read them with the tool m4a_mail_inbox, or in a shell: mail4agent inbox --full\n`
  const room = newest.recipients.find((to) => to.kind === KIND.room && to.account === account.id)
  return {
    id: letter.id,
    count: messages.length,
    text: wakeText(letter) + more,
    plain: plainText(letter, messages.length),
    letter,
    to: session === null ? account.name : `${account.name}/${session.name}`,
    room: room?.text ?? null,
  }
}

/** Addresses and ids alone: the sender chose none of these words. */
const plainText = ({ id, from }: Letter, count: number): string =>
  `mail4agent: ${count === 1 ? 'a letter has' : `${count} letters have`} come for you, the newest ${id} from ${from} (as the mailbox has proved). ` +
  'The mailbox says this, not your user. Read with the tool m4a_mail_inbox, close with m4a_mail_ack.'

/** What `wake test` sends through a door. */
export function testLetter(account: AccountRow, session: SessionRow | null): WakeLetter {
  const text =
    'mail4agent: this is a test of how you are woken, asked for by the operator of the mailbox. No letter has come; nothing is to be done.\n'
  return {
    id: `m4a_${'0'.repeat(24)}`,
    count: 0,
    text,
    plain: text.trim(),
    letter: null,
    to: session === null ? account.name : `${account.name}/${session.name}`,
    room: null,
  }
}
