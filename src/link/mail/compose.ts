// Our mail as an envelope for one peer: what it says, and the ids by which the peer knows what it belongs to.
import { readFragment, threadOf } from '../../engine/fragment.ts'
import type { Mail } from '../../engine/mail.ts'
import type { LinkStore } from '../../store/link/link-store.ts'
import type { AccountRow, MessageRow, Recipient } from '../../store/rows.ts'
import { messageId } from '../../wire/names.ts'
import type { Peer } from '../peers.ts'
import type { Known, MailEnvelope } from './envelope.ts'
import { machineOf, targetOf } from './remotes.ts'

/** The deliveries of a message that lie on that machine. */
export function partOf(mail: Mail, message: MessageRow, peer: string): { to: Recipient; account: AccountRow }[] {
  return message.recipients.flatMap((to) => {
    const account = mail.store.registry.accountById(to.account)
    if (account?.kind !== 'remote' || machineOf(account).toLowerCase() !== peer.toLowerCase()) return []
    return [{ to, account }]
  })
}

/** Null where the message is gone, or nothing of it is for that peer. */
export function envelopeFor(mail: Mail, links: LinkStore, peer: Peer, id: number): MailEnvelope | null {
  const message = mail.store.message(id)
  const part = message ? partOf(mail, message, peer.name) : []
  if (!message || part.length === 0) return null
  const said = readFragment(message.json)
  if (said.from.kind !== 'session') return null // carried in from elsewhere: nobody was proved to have written it
  const parent = message.parent === null ? null : mail.store.message(message.parent)
  return {
    v: 1,
    kind: 'mail',
    id: said.message_id,
    from: { account: said.from.participant, session: said.from.session },
    to: part.map(({ to, account }) => targetOf(to, account)),
    subject: said.subject,
    body: said.body,
    thread: knownAs(links, peer, 'thread', message.thread, threadOf(message.json)),
    reply_to: parent ? knownAs(links, peer, 'message', parent.id, messageId(parent.id, parent.random)) : null,
    correlation: said.correlation,
    refs: said.refs,
    hop: message.hop,
  }
}

function knownAs(links: LinkStore, peer: Peer, kind: 'message' | 'thread', id: number, ours: string): Known {
  const theirs = links.theirs(peer.name, kind, id)
  return theirs === null ? { of: 'me', id: ours } : { of: 'you', id: theirs }
}
