// Mail from the mailbox itself, to operators and to whoever asked for a dispatch: written by an account that no token can be,
// stored like any other letter.
import { SYSTEM } from '../store/people/people.ts'
import { KIND, type MessageRow, type Recipient } from '../store/rows.ts'
import type { Store } from '../store/store.ts'
import { LIMITS } from '../wire/limits.ts'
import { messageId } from '../wire/names.ts'
import { bytes } from '../wire/text.ts'
import { digestOf } from './admin/secret.ts'
import { fragmentOf, type Stored, threadOf } from './fragment.ts'
import type { Mail } from './mail.ts'

/** `key`: a second letter with it is the first. `upsert`: one that nobody has closed is replaced by a later one with it. */
export type Notice = { key: string; upsert: string | null; subject: string; body: string }
/** `parent`: what it answers. `to`: one at least. */
export type SystemLetter = Notice & { to: readonly Recipient[]; parent: MessageRow | null }

/**
 * Stores a letter of the mailbox's own, cut to what a letter may hold; resolves to its sequence once it is on the disk, however
 * often it is tried. Rejects with the refusals of the store.
 */
export async function writeAsMailbox(
  store: Store,
  { to, parent, key, upsert, subject, body }: SystemLetter,
): Promise<number> {
  const { account, session } = await store.people.system()
  const hop = parent ? Math.min(LIMITS.hopMax, parent.hop + 1) : 0
  const names = to.map(({ text }) => text)
  const { id } = await store.send({
    account,
    session,
    scope: 0,
    thread: parent?.thread ?? 0,
    parent: parent?.id ?? null,
    hop,
    recipients: [...to],
    fragment: fragmentOf(account.name, session.name, parent ? threadOf(parent.json) : null, {
      subject: cut(subject, LIMITS.subject),
      body: cut(body, LIMITS.body),
      replyTo: parent ? messageId(parent.id, parent.random) : null,
      correlation: null,
      refs: [],
      hop,
      onBehalfOf: null,
      wakeSuppressed: hop > LIMITS.hopQuiet ? 'hop' : null,
      recipients: names.length > 1 ? names : null,
    }),
    idempotency: { key, hash: digestOf(key) },
    upsert,
    close: null,
  })
  return id
}

/** Resolves once it is on the disk; to no one where there is no operator. Rejects with the refusals of the store. */
export async function tellOperators({ store }: Mail, notice: Notice): Promise<void> {
  const to = store.registry
    .accounts()
    .filter(({ can }) => can.operator)
    .map(({ name, box, id }) => ({ text: name, kind: KIND.account, box, account: id, room: 0 }))
  if (to.length > 0) await writeAsMailbox(store, { ...notice, to, parent: null })
}

/** Nobody else can have that name here; one of another machine has the machine behind it. */
export const isFromMailbox = ({ from_text }: Pick<Stored, 'from_text'>): boolean => from_text.split('/')[0] === SYSTEM

function cut(text: string, limit: number): string {
  let short = text
  while (bytes(short) > limit)
    short = `${short.slice(0, Math.max(0, short.length - Math.ceil((bytes(short) - limit) / 2) - 2))}…`
  return short
}
