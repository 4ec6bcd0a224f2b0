// The stored JSON fragment of a message: its members that never change, made once, spliced into every answer as text.

import type { DirectAddress, SessionAddress } from '../wire/address.ts'
import type { Imported, Reference } from '../wire/letter.ts'
import { type MessageId, messageId } from '../wire/names.ts'
import { rfc3339 } from '../wire/time.ts'

export type Content = {
  subject: string
  body: string
  replyTo: MessageId | null
  correlation: string | null
  refs: readonly Reference[]
  hop: number
  onBehalfOf: string | null
  /** `peer`: another machine that may wake nobody here; `history`: it was there before the link saw its room. */
  wakeSuppressed: 'hop' | 'rate' | 'peer' | 'history' | null
  /** Compact addresses as they were written to, where there were several. */
  recipients: readonly string[] | null
  /** Of a letter that was carried in from elsewhere. */
  imported?: Imported
  /** The machine that vouches for the sender; absent where this mailbox proved it. */
  attestedBy?: string
}

/** Where `threadOf` finds the thread: ids have one length. */
const THREAD = '"message_id":"m4a_000000000000000000000000","thread":"'.length
const ID = 'm4a_000000000000000000000000'.length

/**
 * Prepares the fragment of a message; what is known before the id is made into text once, outside the store.
 * `thread` null: the message begins a thread of its own. `session` null: no session of this mailbox wrote it.
 */
export function fragmentOf(
  account: string,
  session: string | null,
  thread: MessageId | null,
  content: Content,
): (id: number, random: string, created: number) => string {
  const text = JSON.stringify
  let fixed =
    session === null
      ? `","from":{"kind":"direct",${participantText(account)}},"from_text":"${account}"`
      : `","from":{"kind":"session",${participantText(account)},"session":"${session}"},"from_text":"${account}/${session}"`
  if (content.attestedBy !== undefined) fixed += `,"attested_by":"${content.attestedBy}"`
  if (content.recipients) fixed += `,"recipients":${text(content.recipients)}`
  fixed += `,"subject":${text(content.subject)},"body":${text(content.body)},"reply_to":${content.replyTo === null ? 'null' : `"${content.replyTo}"`}`
  const refs = content.refs.length === 0 ? '[]' : text(content.refs)
  fixed += `,"correlation":${content.correlation === null ? 'null' : text(content.correlation)},"refs":${refs},"hop":${content.hop}`
  if (content.onBehalfOf !== null) fixed += `,"on_behalf_of":${text(content.onBehalfOf)}`
  if (content.imported) fixed += `,"imported":${text(content.imported)}`
  if (content.wakeSuppressed) fixed += `,"wake_suppressed":"${content.wakeSuppressed}"`
  return (id, random, created) => {
    const own = messageId(id, random)
    const times = `"created_at":"${rfc3339(created)}","created_at_unix_ms":${created}`
    return `"message_id":"${own}","thread":"${thread ?? own}${fixed},${times}`
  }
}

/** Names of accounts of other machines have the machine behind an `@`; ours have no such sign. */
function participantText(account: string): string {
  const at = account.indexOf('@')
  if (at < 0) return `"participant":"${account}"`
  return `"participant":"${account.slice(0, at)}","machine":"${account.slice(at + 1)}"`
}

/** The thread's message id out of a fragment. */
export const threadOf = (fragment: string): MessageId => fragment.slice(THREAD, THREAD + ID)

const PARTICIPANT = '"participant":"'
/** The name of the account that sent it, out of a fragment: it is the first participant there. */
export function senderOf(fragment: string): string {
  const from = fragment.indexOf(PARTICIPANT) + PARTICIPANT.length
  return fragment.slice(from, fragment.indexOf('"', from))
}

const IMPORTED = ',"imported":{"source":"'
/** Was it carried in, so that nobody proved its sender? Inside a text the quotes would be escaped. */
export const isImported = (fragment: string): boolean => fragment.includes(IMPORTED)

/** What other parts read back from a fragment. */
export type Stored = {
  message_id: string
  thread: string
  from: SessionAddress | DirectAddress
  from_text: string
  subject: string
  body: string
  reply_to: string | null
  correlation: string | null
  refs: Reference[]
  hop: number
  wake_suppressed?: 'hop' | 'rate' | 'peer' | 'history'
  created_at: string
  created_at_unix_ms: number
}

/** Fragments are written by `fragmentOf` alone, so their members need no further check. */
export const readFragment = (fragment: string): Stored => JSON.parse(`{${fragment}}`)
