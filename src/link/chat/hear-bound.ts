// A text in a Matrix room that is one with a room of the mailbox, as the post that it becomes.
import type { Bound } from '../../store/link/chat-rows.ts'
import { LIMITS } from '../../wire/limits.ts'
import { isName } from '../../wire/names.ts'
import { bytes } from '../../wire/text.ts'
import type { Opened } from '../crypto/device.ts'
import type { Link } from '../link.ts'
import type { MailEnvelope } from '../mail/envelope.ts'
import { envelopeOf, FROM, localpart, sessionOf, withoutQuote } from '../mail/people.ts'
import { remoteName } from '../mail/remotes.ts'
import { isJson, type Json } from '../matrix/homeserver.ts'
import type { Peer } from '../peers.ts'

type Writer = { account: string; session: string; hop: number }

/** Null for what is no post: notices are of programs, edits of what was read already; what is too long for a letter is left. */
export function hearBound(
  { mail, links }: Link,
  { room, local }: Bound,
  peer: Peer,
  event: string,
  opened: Opened,
): MailEnvelope | null {
  const content = isJson(opened.content) ? opened.content : {}
  if (typeof content.body !== 'string' || (content.msgtype !== 'm.text' && content.msgtype !== 'm.emote')) return null
  const relation = isJson(content['m.relates_to']) ? content['m.relates_to'] : {}
  if (relation.rel_type === 'm.replace' || comesByLane({ mail, links }, local, peer)) return null
  const from = writerOf(peer, opened, content)
  const reply = isJson(relation['m.in_reply_to']) ? relation['m.in_reply_to'].event_id : null
  const answered = typeof reply === 'string' ? links.ours(room, 'event', reply) : null
  const parent = answered === null ? null : mail.store.message(answered)
  const text = reply == null ? content.body : withoutQuote(content.body)
  const body = text.startsWith(`[${from.account}] `) ? text.slice(from.account.length + 3) : text
  if (bytes(body) > LIMITS.body) return null
  return envelopeOf(event, { account: from.account, session: from.session }, `#${local}`, body, parent, from.hop)
}

/** That machine shares the room by its lane already, or a post would come twice. */
function comesByLane({ mail }: Pick<Link, 'mail' | 'links'>, local: string, peer: Peer): boolean {
  const { registry } = mail.store
  const here = registry.room(local)
  const member = registry.account(remoteName(`#${local}`, peer.name))
  return !peer.person && here !== undefined && member !== undefined && registry.isMember(here.id, member.id)
}

/** A person, or the account that a pinned machine attests. */
function writerOf(peer: Peer, { device }: Opened, content: Json): Writer {
  const person = { account: localpart(peer.user), session: sessionOf(device ?? peer.user), hop: 0 }
  const from = content[FROM]
  if (peer.person || !isJson(from)) return person
  const { account, session, hop } = from
  return {
    account: typeof account === 'string' && isName(account) ? account : person.account,
    session: typeof session === 'string' && /^s-[0-9a-f]{32}$/.test(session) ? session : person.session,
    hop: typeof hop === 'number' && Number.isInteger(hop) && hop >= 0 && hop <= LIMITS.hopMax ? hop : LIMITS.hopQuiet,
  }
}
